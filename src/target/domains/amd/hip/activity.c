/*
 * Runs inside HIP's calls and on its threads: never waits, calls no function of the runtime.
 */
#include "target/domains/amd/hip/activity.h"

#include "shared/arch/syscall.h"
#include "target/domains/amd/hip/launch_shapes.h"
#include "target/domains/amd/hip/launches.h"
#include "target/domains/amd/hsa/agents.h"
#include "target/domains/amd/notes.h"
#include "target/domains/work.h"
#include "target/hooks/clock.h"
#include "target/hooks/got/got.h"
#include "target/runtime/kernel_clock.h"

#include <time.h>

#define REGISTER_NAME "hipRegisterTracerCallback"
#define OTHER_TRACER  "libroctracer64.so*"
#define NUMBERS_MAX   WORK_NUMBERS
#define SLACK_NS      5000 /* maximum difference of the two clocks */
#define DRAIN_STEP_NS 5000000
#define DRAIN_STEPS   400u           /* two seconds */
#define DEBT_NS       60000000000ull /* all commands in queues have ended by then */

/* HIP's constants. */
enum { REPORT_OF_COMMANDS = 2 };
enum { KIND_GRAPH = 0x11f1 };
enum { WANTED = 0, NOT_WANTED = 1 };
#define LOWEST_ADDRESS 4096u /* smaller pointers are signs, not records */

/* A report, in the layout of the runtime's public protocol. */
struct activity {
	uint32_t domain, kind, command, reserved0;
	uint64_t correlation, begin_ns, end_ns;
	int32_t device, reserved1;
	uint64_t queue;
	union {
		uint64_t bytes;
		const char *kernel;
	};
};
_Static_assert(offsetof(struct activity, correlation) == 16, "as in the protocol");
_Static_assert(offsetof(struct activity, queue) == 48, "as in the protocol");
_Static_assert(sizeof(struct activity) == 64, "as in the protocol");

typedef int on_activity_function(uint32_t domain, uint32_t command, void *data);
typedef void register_function(on_activity_function *function);

static register_function *registered; /* where the callback is registered; NULL: nowhere */
static uint64_t registered_beside;    /* an address in the same library */
static bool is_asking[LAUNCH_KINDS];
static uint64_t began;      /* when questions began, in ticks */
static int64_t outstanding; /* questions answered with yes, minus reports and failed commands */

/* Reports requested by earlier sessions that may arrive in this one. That many reports are
 * attributed to earlier sessions, although they may answer this session's questions: so
 * `outstanding` may be too high, never too low. */
static int64_t debt, debt_paid; /* debt_paid: in this session */
static uint64_t debt_end_ns;

/* Maps pointers and pairs to small numbers, from 1 on; 0 if there are too many. A spared item keeps
 * its number until another item needs it. */
#define SPARED (1ull << 63)
struct numbers {
	uint64_t items[NUMBERS_MAX];
};
static struct numbers queues, streams;

static bool number_claim(uint64_t *slot, uint64_t there, uint64_t item)
{
	return __atomic_compare_exchange_n(slot, &there, item, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED) ||
	       there == item;
}

static uint64_t number_find(struct numbers *numbers, uint64_t item)
{
	for (unsigned i = 1; i < NUMBERS_MAX; i++) {
		uint64_t there = __atomic_load_n(&numbers->items[i], __ATOMIC_RELAXED);

		if ((there & ~SPARED) == item ||
		    (!there && number_claim(&numbers->items[i], 0, item)))
			return i;
	}
	return 0;
}

static uint64_t number_of(struct numbers *numbers, uint64_t item)
{
	uint64_t found = number_find(numbers, item);

	for (unsigned i = 1; !found && i < NUMBERS_MAX; i++) {
		uint64_t there = __atomic_load_n(&numbers->items[i], __ATOMIC_RELAXED);

		if (there & SPARED && number_claim(&numbers->items[i], there, item))
			found = i;
	}
	return found;
}

static void number_spare(struct numbers *numbers, uint64_t item)
{
	for (unsigned i = 1; i < NUMBERS_MAX; i++)
		if (__atomic_load_n(&numbers->items[i], __ATOMIC_RELAXED) == item)
			(void)number_claim(&numbers->items[i], item, item | SPARED);
}

/* Directions by the kind of a copy command. */
static const struct {
	uint16_t kind;
	uint8_t direction;
} directions[] = {
	{ 0x11f3, COPY_DEVICE_TO_HOST },   { 0x1201, COPY_DEVICE_TO_HOST },
	{ 0x11f6, COPY_DEVICE_TO_HOST },   { 0x11f4, COPY_HOST_TO_DEVICE },
	{ 0x1202, COPY_HOST_TO_DEVICE },   { 0x11f7, COPY_HOST_TO_DEVICE },
	{ 0x11f5, COPY_DEVICE_TO_DEVICE }, { 0x1203, COPY_DEVICE_TO_DEVICE },
	{ 0x11f8, COPY_DEVICE_TO_DEVICE }, { 0x11f9, COPY_DEVICE_TO_DEVICE },
	{ 0x11fa, COPY_DEVICE_TO_DEVICE },
};

static enum copy_direction direction_of(uint32_t kind)
{
	for (unsigned i = 0; i < ARRAY_SIZE(directions); i++)
		if (directions[i].kind == kind)
			return directions[i].direction;
	return COPY_UNKNOWN;
}

/* Counts the question for its call, too, which may fail. True if all earlier ones were reported. */
static bool count_question(uint64_t cause)
{
	struct writer *writer = writer_mine();

	if (writer && cause) {
		writer->asked = writer->asked_in == cause ? writer->asked + 1 : 1;
		writer->asked_in = cause;
	}
	return !__atomic_fetch_add(&outstanding, 1, __ATOMIC_SEQ_CST);
}

/* A question is counted before it is noted: a question that another thread asks after this one was
 * alone is later than the time to which it settles. */
static void activity_ask(enum launch_kind kind, struct launch *launch)
{
	uint32_t misses = launches_misses();
	uint64_t since = launch->asked;

	if (count_question(launch->cause))
		launches_settle(since, misses);
	launch->asked = clock_ticks();
	(void)launches_add(kind, launch);
}

static void discount_failed(uint64_t cause)
{
	struct writer *writer = writer_mine();

	if (!writer || !cause || writer->asked_in != cause)
		return;
	launches_cancel(cause);
	__atomic_fetch_sub(&outstanding, (int64_t)writer->asked, __ATOMIC_SEQ_CST);
	writer->asked_in = 0;
}

static int activity_answer(uint32_t command)
{
	struct launch launch;

	if (command >= LAUNCH_KINDS || !writers_are_on() ||
	    !__atomic_load_n(&is_asking[command], __ATOMIC_RELAXED))
		return NOT_WANTED;
	if (!clock_may_be_read()) {
		writer_lose();
		return NOT_WANTED;
	}
	launch_read(hook_current(), &launch);
	if (launch.is_of_graph) {
		launches_expect_graphs();
		return WANTED;
	}
	activity_ask((enum launch_kind)command, &launch);
	return WANTED;
}

/* The common values of kernels and copies. */
struct done {
	uint64_t begin, end, queue, stream;
	bool is_answer;
	struct launch_report report;
	struct launch launch;
};

static void write_kernel(struct writer *writer, const struct activity *activity,
			 const struct done *done)
{
	const struct launch *launch = &done->launch;
	const uint64_t values[] = {
		done->report.what,
		(uint64_t)activity->device,
		done->queue,
		done->stream,
		(uint64_t)launch->thread,
		launch->cause,
		work_dispatch(),
		launch->grid[0],
		launch->grid[1],
		launch->grid[2],
		launch->group[0],
		launch->group[1],
		launch->group[2],
		0,
		launch->local_bytes,
	};

	(void)work_write(writer, DOMAIN_KERNEL, done->begin, done->end, values);
}

static void write_copy(struct writer *writer, const struct activity *activity,
		       const struct done *done)
{
	enum copy_direction direction = done->report.direction;
	uint64_t device = (uint64_t)activity->device;
	const uint64_t values[] = {
		activity->bytes,
		direction == COPY_DEVICE_TO_HOST ? 0 : device,
		direction == COPY_HOST_TO_DEVICE ? 0 : device,
		done->launch.to,
		done->launch.from,
		direction,
		done->queue,
		done->stream,
		(uint64_t)done->launch.thread,
		done->launch.cause,
	};

	agents_name(writer, 0);
	(void)work_write(writer, DOMAIN_COPY, done->begin, done->end, values);
}

static struct launch_report read_report(struct writer *writer, const struct activity *activity,
					enum launch_kind kind)
{
	struct launch_report report = { kind,
					(uint64_t)(uint32_t)activity->device << 32 |
						(uint32_t)activity->queue,
					0, activity->bytes, COPY_UNKNOWN };

	if (kind == LAUNCH_KERNEL)
		report.what = activity->kernel ? work_kernel(writer, activity->kernel) : 0;
	else
		report.direction = (uint8_t)direction_of(activity->kind);
	return report;
}

static bool debt_pay(void)
{
	int64_t left = __atomic_load_n(&debt, __ATOMIC_RELAXED);

	while (left > 0 && !__atomic_compare_exchange_n(&debt, &left, left - 1, false,
							__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	if (left > 0)
		__atomic_fetch_add(&debt_paid, 1, __ATOMIC_RELAXED);
	return left > 0;
}

/* False for reports of graphs, and for reports requested by an earlier session: those that began
 * before this one, and as many more as were outstanding. Which of the reports these are is unknown,
 * because queues run concurrently: so no cause is certain until all is settled. */
static bool is_answer(const struct activity *activity, const struct launch_report *report)
{
	if (activity->kind == KIND_GRAPH)
		return false;
	if (!debt_pay())
		return report->latest >= began;
	if (report->latest >= began)
		launches_miss();
	return false;
}

static void write_done(struct writer *writer, const struct activity *activity, struct done *done)
{
	if (!done->is_answer || !launches_take(&done->report, &done->launch))
		done->launch = (struct launch){ 0 };
	done->queue = number_of(&queues, (done->report.queue & ~SPARED) + 1);
	done->stream = done->launch.stream ? number_of(&streams, done->launch.stream) : 0;
	agents_name(writer, (uint64_t)activity->device);
	if (done->report.kind == LAUNCH_KERNEL)
		write_kernel(writer, activity, done);
	else
		write_copy(writer, activity, done);
}

/* The latest time of the question; any time if the runtime does not report the begin. */
static uint64_t latest_of(const struct activity *activity, const struct clock_rate *now)
{
	return activity->begin_ns ? clock_ticks_at(now, activity->begin_ns + SLACK_NS) : UINT64_MAX;
}

/* True if the report answers a question, as far as that is known. */
static bool write_report(const struct activity *activity, enum launch_kind kind)
{
	writer_seal seal;
	struct writer *writer;
	struct clock_rate now;
	struct done done;

	if (!clock_may_be_read()) {
		writer_lose();
		return activity->kind != KIND_GRAPH && !debt_pay();
	}
	writer = writer_begin(&seal);
	if (!writer) {
		launches_miss();
		return activity->kind != KIND_GRAPH && !debt_pay();
	}
	now = clock_recent(&writer->clock);
	done.begin = clock_ticks_at(&now, activity->begin_ns);
	done.end = clock_ticks_at(&now, activity->end_ns);
	done.report = read_report(writer, activity, kind);
	done.report.latest = latest_of(activity, &now);
	done.is_answer = is_answer(activity, &done.report);
	write_done(writer, activity, &done);
	writer_end(writer, &seal);
	return done.is_answer;
}

static int on_activity(uint32_t domain, uint32_t command, void *data)
{
	const struct activity *activity = data;

	if (domain != REPORT_OF_COMMANDS)
		return NOT_WANTED;
	if (!data)
		return activity_answer(command);
	if ((uint64_t)data < LOWEST_ADDRESS || command >= LAUNCH_KINDS)
		return WANTED;
	/* Counted down after its question is removed: see activity_ask(). */
	if (write_report(activity, (enum launch_kind)command))
		__atomic_fetch_sub(&outstanding, 1, __ATOMIC_SEQ_CST);
	return WANTED;
}

static uint32_t activity_seen(void)
{
	return (uint32_t)is_asking[LAUNCH_KERNEL] << DOMAIN_KERNEL |
	       (uint32_t)is_asking[LAUNCH_COPY] << DOMAIN_COPY;
}

uint32_t activity_begin(const uint64_t *slots, const struct slot_list *names, bool kernels,
			bool copies)
{
	register_function *enlist;

	if (registered || (!kernels && !copies))
		return registered ? activity_seen() : 0;
	enlist = (register_function *)got_symbol_beside((uint64_t)slots, REGISTER_NAME);
	/* The runtime has one callback, and no function that reads it. */
	if (!enlist || got_has_module(OTHER_TRACER)) {
		note_say(&amd_notes[enlist ? SAY_OTHER_TRACER : SAY_NO_REPORTS]);
		return 0;
	}
	launch_shapes_prepare(names);
	if (launches_open())
		return 0;
	began = clock_ticks();
	outstanding = debt_paid = 0;
	if (monotonic_ns() >= debt_end_ns)
		debt = 0;
	queues = streams = (struct numbers){ 0 };
	is_asking[LAUNCH_KERNEL] = kernels;
	is_asking[LAUNCH_COPY] = copies;
	enlist(on_activity);
	registered = enlist;
	registered_beside = (uint64_t)slots;
	return activity_seen();
}

/* The library may have been unloaded, with its function. */
static void take_away(void)
{
	void *library = got_hold(registered_beside);

	if (library && got_symbol_beside(registered_beside, REGISTER_NAME) == (void *)registered)
		registered(NULL);
	got_release(library);
	registered = NULL;
}

static uint32_t count_outstanding(void)
{
	int64_t count = __atomic_load_n(&outstanding, __ATOMIC_RELAXED);

	return count > 0 ? (uint32_t)count : 0;
}

/* Carries outstanding reports over to the next session. Reports that may not really be outstanding
 * do not extend the time limit. */
static uint32_t debt_add(uint32_t left)
{
	uint32_t sure = left > debt_paid ? left - (uint32_t)debt_paid : 0;

	if (sure)
		debt_end_ns = monotonic_ns() + DEBT_NS;
	__atomic_fetch_add(&debt, left, __ATOMIC_RELAXED);
	return sure;
}

uint32_t activity_end(void)
{
	struct timespec pause = { 0, DRAIN_STEP_NS };

	if (!registered)
		return 0;
	for (unsigned i = 0; i < LAUNCH_KINDS; i++)
		__atomic_store_n(&is_asking[i], false, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < DRAIN_STEPS && count_outstanding(); i++)
		raw2(SYS_nanosleep, &pause, 0);
	take_away();
	launches_close();
	return debt_add(count_outstanding());
}

void activity_forget(void)
{
	debt = 0;
	if (registered)
		take_away();
}

static void follow_end(const struct hook_frame *frame)
{
	enum launch_end end = launch_ends(frame);

	if (end == ENDS_STREAM) {
		launches_forget_stream(frame->arguments[0]);
		number_spare(&streams, frame->arguments[0]);
	} else if (end == ENDS_FUNCTIONS) {
		launches_forget_functions();
	}
}

void activity_leave(const struct hook_frame *frame)
{
	if (!registered)
		return;
	if ((int32_t)frame->results[0])
		discount_failed(frame->begin);
	else
		follow_end(frame);
}
