/*
 * Foreign code: runs on a thread of the runner.
 */
#include "target/agent/register.h"

#include "target/lifecycle/lifecycle.h"
#include "target/lifecycle/runner.h"
#include "target/sdk/sdk.h"
#include "target/sdk/tables/tables.h"

#include <errno.h>
#include <stdbool.h>

typedef int take_function(const char *, uint64_t, uint64_t, void **, uint64_t, void *);
typedef int each_function(take_function *, void *);
typedef int invoke_function(void);

/* As rocprofiler_register_iterate_registration_info() tells it. */
struct registration {
	size_t size;
	const char *name;
	uint32_t version;
	uint64_t part_count;
};

typedef int registration_function(const struct registration *registration, void *data);
typedef int list_function(registration_function *, void *);

struct question {
	void *function, *list;
	bool takes_callback;
	int result;
};

static int note_unknown(const struct registration *registration, void *data)
{
	if (!tables_have(registration->name))
		*(bool *)data = true;
	return 0;
}

/* To be asked has a price: AMD's library takes us for the profiler from then on, and keeps us. */
static bool is_worth_asking(const struct question *self)
{
	bool has_more = false;

	if (!self->list)
		return true;
	((list_function *)self->list)(note_unknown, &has_more);
	return has_more;
}

static void library_ask(void *argument)
{
	struct question *self = argument;

	if (self->takes_callback)
		self->result = ((each_function *)self->function)(tables_take, NULL);
	else if (is_worth_asking(self))
		self->result = ((invoke_function *)self->function)();
}

static void order_nothing(void *argument)
{
	(void)argument;
}

int register_ask(const struct boot_libc *libc, const struct control_tables *order)
{
	struct question question = { (void *)order->function, (void *)order->list,
				     order->header.flags & CONTROL_CALLBACK, 0 };
	int r = runner_call(libc, library_ask, order_nothing, &question, sizeof(question),
			    order->timeout_ms);

	return r ? r : question.result ? -ENXIO : 0;
}

static void tools_tell(void *argument)
{
	tables_tell(*(const uint64_t *)argument, false);
}

static int found_note(struct control_found *order)
{
	return tables_note(order->name, 0, 0, (void **)order->parts, order->part_count);
}

/* A table is noted once: not before tools can be shown it. */
int register_found(const struct boot_libc *libc, struct control_found *order)
{
	uint64_t first_part = order->parts[0];
	int r;

	if (!sdk_has_tools())
		return found_note(order);
	r = lifecycle_enter();
	if (r)
		return r;
	r = found_note(order);
	if (!r)
		r = runner_call(libc, tools_tell, order_nothing, &first_part, sizeof(first_part),
				order->timeout_ms);
	lifecycle_leave();
	return r;
}
