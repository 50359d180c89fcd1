/*
 * Reads samples of the sampler "copy" at once.
 */
#include <errno.h>
#include <string.h>

#include "host/core/clock.h"
#include "host/sampling/copy/copy.h"

#define PROMPT_NS  20000000u
#define YOUNG_NS   1000000000u /* how long to read often, to learn the needed size of copies */
#define UNHEARD_MS 2           /* between readings where no sample wakes the reader */

bool copy_must_reopen(const struct copy_sampler *self, struct perf_attrs *ret)
{
	const struct perf_event_attr *now = &self->events.attrs.items[COPY_CLOCK];
	uint32_t size = stack_need_size(&self->need, now->sample_stack_user);
	bool is_prompt = now->wakeup_events || stack_need_haste(&self->need, size);

	if (self->is_stopped ||
	    (size == now->sample_stack_user && is_prompt == (bool)now->wakeup_events))
		return false;
	*ret = self->events.attrs;
	for (unsigned i = 0; i < ret->count; i++)
		ret->items[i].sample_stack_user = size;
	ret->items[COPY_CLOCK].wakeup_events = is_prompt;
	return true;
}

int copy_read_records(struct copy_round *round, struct err *err)
{
	struct copy_sampler *self = round->self;
	struct perf_batch batch;
	int r = perf_batch_read(&batch, &self->events);

	if (r < 0)
		return err_set(err, r, "take samples: %s", strerror(-r));
	r = copy_handle_records(round, &batch);
	perf_batch_done(&batch, &self->events);
	return r < 0 ? err_set(err, r, "read samples: %s", strerror(-r)) : 0;
}

/* The context of a watcher's callback. */
struct promptly {
	struct copy_round *round;
	struct err *err;
};

/* Other than 0: an error, or the events must be reopened. */
static int take_promptly(void *context)
{
	struct promptly *promptly = context;
	struct perf_attrs attrs;
	int r = copy_read_records(promptly->round, promptly->err);

	return r ? r : copy_must_reopen(promptly->round->self, &attrs);
}

struct watchers *copy_open_watchers(struct copy_sampler *self)
{
	if (!self->has_tried_watchers && self->events.attrs.items[COPY_CLOCK].wakeup_events) {
		self->has_tried_watchers = true;
		(void)!watchers_open(&self->watchers, &self->events);
	}
	return self->watchers;
}

/* Until the events must be reopened, or the time is over. */
int copy_read_promptly(struct copy_round *round, struct err *err)
{
	struct copy_sampler *self = round->self;
	struct promptly promptly = { round, err };
	uint64_t end_ns = now_ns() + PROMPT_NS, now;
	struct watchers *watchers;
	struct perf_attrs attrs;
	int r = copy_must_reopen(self, &attrs), limit_ms;

	while (!r && !self->is_stopped && (now = now_ns()) < end_ns) {
		watchers = copy_open_watchers(self);
		r = watchers ? watchers_let(watchers, take_promptly, &promptly, end_ns - now)
			     : -ENODATA;
		if (r != -ENODATA)
			continue;
		limit_ms = (int)((end_ns - now) / 1000000 + 1);
		if (!self->events.attrs.items[COPY_CLOCK].wakeup_events)
			limit_ms = UNHEARD_MS;
		perf_events_wait(&self->events, limit_ms);
		r = take_promptly(&promptly);
	}
	return MIN(r, 0);
}

bool copy_is_prompt(const struct copy_sampler *self)
{
	return self->has_interpreter || self->events.attrs.items[COPY_CLOCK].wakeup_events ||
	       now_ns() - self->opened_ns < YOUNG_NS;
}
