/*
 * CUPTI's callbacks at the begin and end of CUDA driver calls. Runs inside application calls: no
 * libc, no waiting except in gate.c, no system call except its futex and those of python_stack().
 */
#include "target/domains/cuda/cuda.h"

#include "target/hooks/python_stack.h"
#include "target/hooks/thread.h"

#define FUNCTIONS_MAX 1024u /* driver functions, by CUPTI's numbers */
#define UNSEEN        UINT32_MAX

enum { DRIVER_DOMAIN = 1 };
enum { GRAPH_LAUNCH = 514, GRAPH_LAUNCH_PTSZ = 515 };

static const struct driver_call {
	uint32_t number;
	bool enqueues;
	struct traced traced;
} calls[] = {
#define DRIVER_CALL(number, symbol, enqueues) \
	{ number,                             \
	  enqueues,                           \
	  { NULL,                             \
	    #symbol,                          \
	    DOMAIN_CUDA,                      \
	    HOOK_REGISTERS,                   \
	    NULL,                             \
	    NULL,                             \
	    1,                                \
	    { { VALUE_RESULT, CAPTURE_RESULT_INT } } } },
#define CUDA_CALL(number, symbol) DRIVER_CALL(number, symbol, false)
#define CUDA_WORK(number, symbol) DRIVER_CALL(number, symbol, true)
#include "target/domains/cuda/driver_calls.def"
#undef CUDA_WORK
#undef CUDA_CALL
#undef DRIVER_CALL
};

/* Every other function, by CUPTI's name. */
static const struct traced other = { NULL,        NULL,
				     DOMAIN_CUDA, HOOK_REGISTERS,
				     NULL,        NULL,
				     1,           { { VALUE_RESULT, CAPTURE_RESULT_INT } } };

static uint32_t functions[FUNCTIONS_MAX]; /* in this session's list */
static bool enqueues[FUNCTIONS_MAX];

static bool function_add(uint32_t number, const struct traced *traced, const char *name)
{
	struct traced announced = *traced;

	if (cuda_writes_stacks())
		announced.values[announced.value_count++].kind = VALUE_CALL_STACK;
	functions[number] =
		function_announce(&announced, &(struct function_name){ name, "libcuda.so.1" });
	return functions[number] != UNSEEN;
}

static bool others_announce(const struct cupti *cupti)
{
	bool fits = true;

	for (uint32_t i = 1; fits && i < FUNCTIONS_MAX; i++) {
		const char *name = NULL;

		if (functions[i] == UNSEEN && !cupti->callback_name(DRIVER_DOMAIN, i, &name) &&
		    name)
			fits = function_add(i, &other, name);
	}
	return fits;
}

bool callbacks_announce(const struct cupti *cupti)
{
	for (unsigned i = 0; i < FUNCTIONS_MAX; i++)
		functions[i] = UNSEEN;
	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++) {
		enqueues[calls[i].number] = calls[i].enqueues;
		if (!function_add(calls[i].number, &calls[i].traced, calls[i].traced.name))
			return false;
	}
	return !cuda_writes_all_calls() || others_announce(cupti);
}

/* Older releases of CUPTI do not know every function. */
void callbacks_enable(const struct cupti *cupti, void *subscriber)
{
	gate_renew();
	if (cuda_writes_all_calls()) {
		(void)cupti->enable_domain(1, subscriber, DRIVER_DOMAIN);
		return;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].enqueues || cuda_writes(DOMAIN_CUDA))
			(void)cupti->enable_callback(1, subscriber, DRIVER_DOMAIN, calls[i].number);
}

void callbacks_disable(const struct cupti *cupti, void *subscriber)
{
	(void)cupti->enable_domain(0, subscriber, DRIVER_DOMAIN);
}

static void call_enter(uint32_t function, const struct cupti_call *call)
{
	struct cuda_cause cause = { clock_ticks(), thread_number(),
				    function == GRAPH_LAUNCH || function == GRAPH_LAUNCH_PTSZ };

	if (writers_are_on() && cause.begin)
		cause_note(call->correlation, &cause);
}

/* A call that began before the attach has no cause. */
static void call_leave(uint32_t function, const struct cupti_call *call)
{
	struct cuda_cause cause;
	writer_seal seal;
	struct writer *writer;
	struct record_call record = { { 0, 0, 1 }, functions[function], 0, 0 };
	uint64_t values[2] = { (uint64_t)(int64_t)call->result };

	if (!cause_find(call->correlation, &cause) || cause.thread != thread_number())
		return;
	writer = writer_begin(&seal);
	if (!writer)
		return;
	record.begin = cause.begin;
	record.end = clock_ticks();
	if (cuda_writes_stacks())
		values[record.head.count++] = python_stack(writer);
	(void)writer_call(writer, &record, values);
	writer_end(writer, &seal);
}

void callbacks_on_call(void *unused, int domain, uint32_t function, const void *data)
{
	struct cupti_call call;

	(void)unused;
	if (domain != DRIVER_DOMAIN || function >= FUNCTIONS_MAX || functions[function] == UNSEEN)
		return;
	layout_call(data, &call);
	if (enqueues[function])
		call.is_exit ? gate_leave(call.mark) : gate_enter(call.mark);
	if (!cuda_writes(DOMAIN_CUDA) || !clock_may_be_read())
		return;
	if (!call.is_exit)
		call_enter(function, &call);
	else
		call_leave(function, &call);
}
