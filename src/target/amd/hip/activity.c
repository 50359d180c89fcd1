/*
 * Runs inside HIP's calls and on its threads: never waits, calls no function of the runtime.
 */
#include "target/amd/hip/activity.h"

#include "shared/arch/syscall.h"
#include "shared/base/hash.h"
#include "target/amd/events/events.h"
#include "target/amd/events/moments.h"
#include "target/amd/hip/launches.h"

#include <time.h>

#define SLACK_NS      5000 /* maximum difference of the two clocks */
#define DRAIN_STEP_NS 5000000
#define DRAIN_STEPS   400u           /* two seconds */
#define DEBT_NS       60000000000ull /* all commands in queues have ended by then */

/* HIP's constants. */
enum { REPORT_OF_COMMANDS = 2 };
enum { KIND_GRAPH = 0x11f1 };
enum { WANTED = 0, NOT_WANTED = 1 };
#define ONE_ANSWER     (1ull << 32)
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

struct hip_ring hip_ring;
static uint64_t began; /* when questions began, in ticks */

/* Low half: outstanding questions, which are those answered with yes minus reports and failed
 * commands. High half: reports and failed commands. */
static struct busy_word progress;

static uint32_t unlisted_inside; /* threads in the callback that have no entry */

/* Reports requested while limpet's callback was registered before, which may arrive now. That many
 * reports are attributed to earlier questions, although they may answer newer ones: so
 * `outstanding` may be too high, never too low. */
static int64_t debt, debt_paid; /* debt_paid: since then */
static uint64_t debt_end_ns;

static const enum trace_domain domains[LAUNCH_KINDS] = { DOMAIN_KERNEL, DOMAIN_COPY };

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

void hip_count_answers(uint32_t count)
{
	__atomic_fetch_add(&progress.value, count * (ONE_ANSWER - 1), __ATOMIC_SEQ_CST);
}

/* A question is counted before it is noted: a question that another thread asks after this one was
 * alone is later than the time to which it settles. */
static void question_note(enum launch_kind kind, struct launch *launch)
{
	uint32_t misses = launches_misses();
	uint64_t since = launch->asked;

	if (!(uint32_t)__atomic_fetch_add(&progress.value, 1, __ATOMIC_SEQ_CST))
		launches_settle(since, misses);
	launch->asked = clock_ticks();
	(void)launches_add(kind, launch);
}

/* The frame of the HIP call that the thread is in; NULL: unknown, or none. */
static struct call_frame *frame_around(const struct call_thread *thread,
				       const struct thread_call **ret_call)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0);

	*ret_call = thread ? call_thread_around(thread, here) : NULL;
	return *ret_call ? call_thread_frame(*ret_call, here) : NULL;
}

static bool ring_wants(uint32_t command)
{
	if (!__atomic_load_n(&hip_ring.asks[command], __ATOMIC_RELAXED) || !events_ring())
		return false;
	if (clock_may_be_read())
		return true;
	events_lose();
	return false;
}

static int question_answer(uint32_t command, const struct call_thread *thread)
{
	const struct thread_call *call;
	struct call_frame *frame;
	struct launch launch;
	bool wants_ring, want_tools;

	if (command >= LAUNCH_KINDS)
		return NOT_WANTED;
	wants_ring = ring_wants(command);
	want_tools = events_tools_want(domains[command]);
	if (!wants_ring && !want_tools)
		return NOT_WANTED;
	frame = frame_around(thread, &call);
	launch_read(frame, &launch);
	if (want_tools)
		events_launch(&launch, domains[command], call, frame);
	if (launch.is_of_graph) {
		launches_expect_graph(&launch);
		return WANTED;
	}
	if (frame)
		frame->asked++;
	question_note((enum launch_kind)command, &launch);
	return WANTED;
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

/* False for reports of graphs, and for reports requested before limpet's callback was registered:
 * those that began before that, and as many more as were outstanding. Which of the reports these
 * are is unknown, because queues run concurrently: so no cause is certain until all is settled. */
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

static uint64_t name_hash(const char *name)
{
	uint64_t hash = name ? hash_add_text(HASH_SEED, name) : 0;

	return hash ? hash : name != NULL;
}

static struct launch_report report_read(const struct activity *activity, enum launch_kind kind)
{
	struct launch_report report = { kind,
					(uint64_t)(uint32_t)activity->device << 32 |
						(uint32_t)activity->queue,
					/* any time if the runtime does not report the begin */
					UINT64_MAX, activity->bytes, COPY_UNKNOWN };

	if (activity->begin_ns && clock_may_be_read())
		report.latest = moment_ticks_at(activity->begin_ns + SLACK_NS);
	if (kind == LAUNCH_KERNEL)
		report.what = name_hash(activity->kernel);
	else
		report.direction = (uint8_t)direction_of(activity->kind);
	return report;
}

/* A launch that is not certain is for tools only, which want any. */
static void kernel_report(const struct activity *activity, uint64_t name_hash,
			  struct launch *launch, bool is_sure, const struct device_times *times)
{
	static const struct launch unknown;
	const struct launch *sure = is_sure ? launch : &unknown;
	struct dispatch_event event = { .name = activity->kernel,
					.name_hash = name_hash,
					.device = (uint32_t)activity->device,
					.queue = (uint32_t)activity->queue,
					.stream = sure->stream,
					.thread = (uint64_t)sure->thread,
					.cause = sure->cause,
					.grid = { sure->grid[0], sure->grid[1], sure->grid[2] },
					.group = { sure->group[0], sure->group[1], sure->group[2] },
					.group_bytes = sure->local_bytes,
					.times = *times,
					.is_of_hip = true,
					.launch = launch };

	events_kernel(&event);
}

static void copy_report(const struct activity *activity, struct launch *launch, bool is_sure,
			const struct device_times *times)
{
	static const struct launch unknown;
	const struct launch *sure = is_sure ? launch : &unknown;
	enum copy_direction direction = direction_of(activity->kind);
	uint64_t device = (uint32_t)activity->device;

	events_copy(&(struct copy_event){
		.bytes = activity->bytes,
		.to_device = direction == COPY_DEVICE_TO_HOST ? 0 : device,
		.from_device = direction == COPY_HOST_TO_DEVICE ? 0 : device,
		.to = sure->to,
		.from = sure->from,
		.direction = direction,
		.device = device,
		.queue = (uint32_t)activity->queue,
		.stream = sure->stream,
		.thread = (uint64_t)sure->thread,
		.cause = sure->cause,
		.times = *times,
		.is_of_hip = true,
		.launch = launch,
	});
}

/* True if the report answers a question, as far as that is known. */
static bool report_handle(const struct activity *activity, enum launch_kind kind)
{
	struct device_times times = { activity->begin_ns, activity->end_ns, 0, 0 };
	struct launch_report report;
	struct launch launch;
	bool is_answered, is_sure = false;

	if (!clock_may_be_read())
		events_lose();
	report = report_read(activity, kind);
	is_answered = is_answer(activity, &report);
	if (is_answered)
		is_sure = launches_match(&report, &launch);
	else if (activity->kind == KIND_GRAPH)
		launches_graph(&launch);
	else
		launch_clear(&launch);
	if (kind == LAUNCH_KERNEL)
		kernel_report(activity, report.what, &launch, is_sure, &times);
	else
		copy_report(activity, &launch, is_sure, &times);
	return is_answered;
}

static int command_handle(uint32_t command, void *data, const struct call_thread *thread)
{
	if (!data)
		return question_answer(command, thread);
	if ((uint64_t)data < LOWEST_ADDRESS || command >= LAUNCH_KINDS)
		return WANTED;
	/* Counted down after its question is removed: see question_note(). */
	if (report_handle(data, (enum launch_kind)command))
		hip_count_answers(1);
	return WANTED;
}

/* Different threads count in different cache lines: launches would wait for reports. */
int hip_on_activity(uint32_t domain, uint32_t command, void *data)
{
	struct call_thread *thread;
	uint32_t *inside;
	int r;

	if (domain != REPORT_OF_COMMANDS)
		return NOT_WANTED;
	thread = call_thread_mine();
	inside = thread ? &thread->hip_inside : &unlisted_inside;
	if (thread)
		__atomic_store_n(inside, *inside + 1, __ATOMIC_RELEASE);
	else
		__atomic_add_fetch(inside, 1, __ATOMIC_SEQ_CST);
	r = command_handle(command, data, thread);
	if (thread)
		__atomic_store_n(inside, *inside - 1, __ATOMIC_RELEASE);
	else
		__atomic_sub_fetch(inside, 1, __ATOMIC_SEQ_CST);
	return r;
}

bool hip_is_inside(void)
{
	return __atomic_load_n(&unlisted_inside, __ATOMIC_SEQ_CST) || call_threads_in_hip();
}

bool hip_open(const struct agent_table *hip)
{
	launch_shapes_prepare();
	if (launches_open())
		return false;
	events_hip_came(hip);
	began = clock_ticks();
	progress.value = 0;
	debt_paid = 0;
	if (monotonic_ns() >= debt_end_ns)
		debt = 0;
	return true;
}

static uint32_t count_outstanding(uint32_t until)
{
	uint32_t answered =
		(uint32_t)(__atomic_load_n(&progress.value, __ATOMIC_RELAXED) / ONE_ANSWER);

	return (int32_t)(until - answered) > 0 ? until - answered : 0;
}

/* Reports that may not really be outstanding do not extend the time limit of the debt. */
static uint32_t count_sure(uint32_t left)
{
	return left > debt_paid ? left - (uint32_t)debt_paid : 0;
}

void hip_close(void)
{
	int32_t open = (int32_t)__atomic_load_n(&progress.value, __ATOMIC_RELAXED);
	uint32_t left = open > 0 ? (uint32_t)open : 0;

	if (count_sure(left))
		debt_end_ns = monotonic_ns() + DEBT_NS;
	__atomic_fetch_add(&debt, left, __ATOMIC_RELAXED);
	events_hip_came(NULL);
	launches_close();
}

bool hip_is_needed(void)
{
	return hip_ring.needs || events_tools_may_want(DOMAIN_KERNEL) ||
	       events_tools_may_want(DOMAIN_COPY);
}

uint32_t hip_await_reports(void)
{
	struct timespec pause = { 0, DRAIN_STEP_NS };
	uint64_t now = __atomic_load_n(&progress.value, __ATOMIC_SEQ_CST);
	uint32_t until = (uint32_t)(now / ONE_ANSWER) + (uint32_t)now;

	for (unsigned i = 0; i < DRAIN_STEPS && count_outstanding(until); i++)
		raw2(SYS_nanosleep, &pause, 0);
	return count_sure(count_outstanding(until));
}

void hip_activity_adopt(void)
{
	unlisted_inside = 0;
}
