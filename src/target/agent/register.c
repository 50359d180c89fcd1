/*
 * Calls foreign code, on the runner's threads.
 */
#include "target/agent/register.h"

#include "target/amd/engine.h"
#include "target/amd/show.h"
#include "target/lifecycle/lifecycle.h"
#include "target/lifecycle/runner.h"
#include "target/runtime/libc_calls.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define GIVE_BACK_MS 1000

typedef int take_function(const char *, uint64_t, uint64_t, void **, uint64_t, void *);
typedef int each_function(take_function *, void *);
typedef int invoke_function(void);

/* The layout of rocprofiler_register_iterate_registration_info(). */
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
	bool takes_callback, looks_only;
	bool is_worth_it;
	int result;
	void *library; /* with both functions, held */
};

_Static_assert(sizeof(struct telling) <= RUNNER_ARGUMENT, "fits the runner");

static int note_unknown(const struct registration *registration, void *data)
{
	if (!tables_have(registration->name))
		*(bool *)data = true;
	return 0;
}

/* AMD's library regards a caller as the profiler from then on, and keeps it loaded. */
static bool is_worth_asking(const struct question *self)
{
	bool has_more = false;

	if (!self->list)
		return true;
	((list_function *)self->list)(note_unknown, &has_more);
	return has_more;
}

static int question_put(struct question *self)
{
	if (self->takes_callback)
		return ((each_function *)self->function)(tables_take, NULL);
	self->is_worth_it = is_worth_asking(self);
	return self->is_worth_it && !self->looks_only ? ((invoke_function *)self->function)() : 0;
}

static bool is_symbol(const struct question *self, const char *name, const void *function)
{
	return libc_symbol(self->library, name) == function;
}

/* If the library was unmapped, another may be at its address. */
static bool is_whole(const struct question *self)
{
	if (self->takes_callback)
		return is_symbol(self, REGISTER_EACH, self->function);
	return is_symbol(self, REGISTER_INVOKE, self->function) &&
	       (!self->list || is_symbol(self, REGISTER_LIST, self->list));
}

/* Holds the library, because the target may close it at any moment. */
static void library_ask(void *argument)
{
	struct question *self = argument;

	self->result = -ENXIO;
	self->library = libc_hold(self->function);
	if (!self->library || !is_whole(self))
		return;
	tables_turn_ask(true);
	self->result = question_put(self);
	tables_turn_ask(false);
}

static void library_release(void *argument)
{
	struct question *self = argument;

	if (self->library)
		libc_close(self->library);
	self->library = NULL;
}

/* Runs after calls that timed out: the next query may begin. */
static void ask_timed_out(void *argument)
{
	library_release(argument);
	tables_turn_end();
}

static void tools_pass(void *argument)
{
	telling_run(argument);
}

static void tables_release(void *argument)
{
	telling_release(argument);
}

static void pass_timed_out(void *argument)
{
	telling_release(argument);
	tables_turn_end();
}

static void ignore_timeout(void *argument)
{
	(void)argument;
}

/* Releasing a library may unload it: runs on a thread that nothing waits for, not even the host. If
 * none can be created, the library stays loaded. */
static void release_apart(const struct boot_libc *libc, void (*work)(void *), void *argument,
			  size_t size)
{
	(void)!runner_call(libc, work, ignore_timeout, argument, size, TABLE_OF_PROGRAM,
			   GIVE_BACK_MS);
}

/* Called with the tables' turn held, which this call or a timed-out thread ends. */
static int pass_to_tools(const struct boot_libc *libc, struct telling *telling, uint32_t timeout_ms)
{
	int r = lifecycle_enter();

	if (!r) {
		r = runner_call(libc, tools_pass, pass_timed_out, telling, sizeof(*telling),
				TABLE_OF_PROGRAM, timeout_ms);
		lifecycle_leave();
	}
	if (r != -ETIMEDOUT)
		tables_turn_end();
	if (!r && telling->count)
		release_apart(libc, tables_release, telling, sizeof(*telling));
	return r ? r : telling->result;
}

int register_ask(const struct boot_libc *libc, const struct control_tables *order,
		 uint32_t *ret_worth)
{
	struct question question = { .function = (void *)order->function,
				     .list = (void *)order->list,
				     .takes_callback = order->header.flags & CONTROL_CALLBACK,
				     .looks_only = order->header.flags & CONTROL_LOOK };
	struct telling telling = { 0 };
	int r, told = 0;

	if (!tables_turn_take())
		return -EBUSY;
	r = runner_call(libc, library_ask, ask_timed_out, &question, sizeof(question),
			TABLE_OF_PROGRAM, order->timeout_ms);
	if (!r && sdk_has_tools())
		told = pass_to_tools(libc, &telling, order->timeout_ms);
	else if (r != -ETIMEDOUT)
		tables_turn_end();
	if (!r && question.library)
		release_apart(libc, library_release, &question, sizeof(question));
	*ret_worth = question.is_worth_it;
	if (r || told)
		return r ? r : told;
	return question.result ? -ENXIO : 0;
}

static int found_tell(const struct boot_libc *libc, const struct control_found *order)
{
	struct telling telling = { .found = { .part_count = order->part_count } };

	if (!order->part_count || order->part_count > TABLE_PARTS_MAX)
		return -EINVAL;
	if (!tables_turn_take())
		return -EBUSY;
	memcpy(telling.found.name, order->name, sizeof(telling.found.name));
	memcpy(telling.found.parts, order->parts, sizeof(telling.found.parts));
	return pass_to_tools(libc, &telling, order->timeout_ms);
}

/* A table is noted only once, so not before tools can get it. */
int register_found(const struct boot_libc *libc, struct control_found *order)
{
	if (sdk_has_tools())
		return found_tell(libc, order);
	return tables_note(order->name, 0, 0, (void **)order->parts, order->part_count);
}
