/*
 * Counters in rocpd: each counter once, and a row for each place where it was counted.
 */
#include "host/export/amd/rocpd/rocpd_parts.h"

struct counter_rows {
	struct rocpd *self;
	const struct amd_event *event;
};

/* Of an agent: the same counter of another one is another. */
static int64_t pmc_id(const struct model_process *process, const struct recorded_counter *counter,
		      uint64_t device)
{
	return id_of(process, (uint64_t)counter->number << 8 | (device & 0xff));
}

static int put_pmc(struct rocpd *self, const struct amd_event *event,
		   const struct recorded_counter *counter, int64_t id)
{
	const struct model_process *process = event->call->process;
	int is_new = rocpd_learn(self, KNOWN_PMC, id);

	if (is_new <= 0)
		return is_new;
	return rocpd_put(
		self, INSERT_PMC,
		(struct rocpd_cell[]){ NUMBER(id), NUMBER(self->node), NUMBER(process_id(process)),
				       NUMBER(id_of(process, event_value(event, VALUE_DEVICE))),
				       TEXT("GPU"), TEXT(counter->name), TEXT(counter->name),
				       TEXT(counter->description), TEXT("rocm"), TEXT("ABS"),
				       TEXT(counter->block), TEXT(counter->expression), NUMBER(0),
				       NUMBER(counter->block[0] ? 0 : 1) });
}

static int put_values(const struct recorded_counter *counter, const struct counter_values *values,
		      void *context)
{
	const struct counter_rows *rows = context;
	struct rocpd *self = rows->self;
	int64_t id =
		pmc_id(rows->event->call->process, counter, event_value(rows->event, VALUE_DEVICE));
	int r = put_pmc(self, rows->event, counter, id);

	for (size_t i = 0; !r && i < values->count; i++)
		r = rocpd_put(self, INSERT_PMC_EVENT,
			      (struct rocpd_cell[]){ NUMBER(self->event_count), NUMBER(id),
						     REAL(values->items[i].value) });
	return r;
}

int rocpd_counters(struct rocpd *self, const struct amd_event *event)
{
	struct counter_rows rows = { self, event };

	return counted_each(&self->view->counted, event->call, put_values, &rows);
}
