/*
 * Queues of ours beside queues of the program's that keep no times (--opencl-device-time).  What
 * the program enqueues goes to ours, which is the same but for its times; what it asks about its
 * own is answered as if there were no other.  Commands keep their order over the change from one to
 * the other and back:
 *
 * - In a queue that keeps its order, all that comes later waits for a marker in the queue that was
 *   left.  It would have waited without us.
 * - In another, the queue that is gone to has a marker of the one that was left, so that whoever
 *   waits for all waits for all; and its last barrier, when that is still to come.
 * - A call that chose its queue before the change, and comes out after it, does the same once more
 *   before it returns.  So nobody waits for anybody here, and there are no locks.
 *
 * Runs inside calls of the program's, in the driver's callbacks, and on threads of ours.
 */
#include "shared/arch/syscall.h"
#include "target/domains/opencl.h"
#include "target/hooks/got.h"
#include "target/runtime/text.h"

#include <time.h>

#define SHADOWS_MAX    256u
#define ENDING         0x80000000u
#define COMPLETE       0
#define PROFILES       2u
#define PROPERTIES_MAX 16u
#define GRACE_NS       250000000ull /* a call that is under way when hooks come is long over */
#define MOVE_TRIES     2000u
#define PAUSE_NS       1000000
#define CHOSE_OURS     1u /* in a token, beside the address */

/* Where calls go; a shadow goes through these once. */
enum side {
	TO_OURS, /* to the program's, while the change is under way */
	AT_OURS,
	TO_PROGRAMS, /* to ours, likewise */
	AT_PROGRAMS,
};

struct opencl_shadow {
	uint32_t users; /* calls, commands and markers under way, and one while it is in use */
	uint32_t side;
	uint32_t is_closed, was_released;
	const struct opencl_vendor *vendor;
	opencl_object programs, ours; /* queues, one reference of each is ours */
	opencl_object context;
	uint32_t context_references; /* that our queue has */
	struct opencl_queue *queue;  /* the program's, as it was met in `session` */
	uint32_t session;
	struct opencl_queue view; /* ours, as records know it */
};

typedef int32_t marker_function(opencl_object queue, uint32_t count, const opencl_object *waits,
				opencl_object *ret);
typedef int32_t object_function(opencl_object object);
typedef opencl_object create_queue(opencl_object context, opencl_object device, uint64_t properties,
				   int32_t *ret_error);
typedef opencl_object create_queue_with(opencl_object context, opencl_object device,
					const uint64_t *properties, int32_t *ret_error);
typedef void event_callback(opencl_object event, int32_t status, void *context);
typedef int32_t set_callback(opencl_object event, int32_t status, event_callback *callback,
			     void *context);

static const char *const refusals[REFUSALS] = {
#define REFUSAL(name, text) [REFUSED_##name] = text,
#include "shared/wire/queue_refusals.def"
#undef REFUSAL
};

static struct opencl_shadow shadows[SHADOWS_MAX];
static uint32_t is_wanted, is_ending;
static uint32_t timed, refused, refusal_bits;

static int32_t call_object(const struct opencl_vendor *vendor, enum opencl_entry entry,
			   opencl_object object)
{
	return ((object_function *)vendor->functions[entry])(object);
}

bool shadows_are_wanted(void)
{
	return __atomic_load_n(&is_wanted, __ATOMIC_RELAXED);
}

void shadows_start(bool wanted)
{
	__atomic_store_n(&is_ending, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&is_wanted, wanted, __ATOMIC_RELEASE);
	timed = refused = refusal_bits = 0;
}

/* In a forked child: they are our parent's. */
void shadows_forget(void)
{
	for (unsigned i = 0; i < SHADOWS_MAX; i++)
		shadows[i] = (struct opencl_shadow){ 0 };
}

void shadows_tell(struct rings *rings)
{
	rings->queues_timed += __atomic_load_n(&timed, __ATOMIC_RELAXED);
	rings->queues_estimated += __atomic_load_n(&refused, __ATOMIC_RELAXED);
	rings->queue_refusals |= __atomic_load_n(&refusal_bits, __ATOMIC_RELAXED);
}

static void refuse(struct opencl_queue *queue, enum opencl_refusal why)
{
	uint32_t none = 0;

	if (!__atomic_compare_exchange_n(&queue->refusal, &none, why, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
	__atomic_fetch_or(&refusal_bits, 1u << why, __ATOMIC_RELAXED);
	queue_say_refusal(queue, refusals[why]);
}

/* The last one puts both queues down. */
static void drop(struct opencl_shadow *shadow)
{
	uint32_t users = __atomic_load_n(&shadow->users, __ATOMIC_RELAXED), next;

	do
		next = users == 1 ? ENDING : users - 1;
	while (!__atomic_compare_exchange_n(&shadow->users, &users, next, true, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED));
	if (next != ENDING)
		return;
	call_object(shadow->vendor, ENTRY_clReleaseCommandQueue, shadow->ours);
	call_object(shadow->vendor, ENTRY_clReleaseCommandQueue, shadow->programs);
	/* Release: from here on it is another's. */
	__atomic_store_n(&shadow->users, 0, __ATOMIC_RELEASE);
}

static bool keep(struct opencl_shadow *shadow)
{
	uint32_t users = __atomic_load_n(&shadow->users, __ATOMIC_RELAXED);

	while (users && users != ENDING)
		if (__atomic_compare_exchange_n(&shadow->users, &users, users + 1, true,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	return false;
}

void shadow_keep(struct opencl_shadow *shadow)
{
	__atomic_fetch_add(&shadow->users, 1, __ATOMIC_RELAXED);
}

void shadow_drop(struct opencl_shadow *shadow)
{
	drop(shadow);
}

static void on_marker(opencl_object event, int32_t status, void *context)
{
	(void)event;
	(void)status;
	drop(context);
}

/* Our queue is not put down before it is empty: a driver may wait there. */
static void keep_until(struct opencl_shadow *shadow, opencl_object marker)
{
	set_callback *set = (set_callback *)shadow->vendor->functions[ENTRY_clSetEventCallback];

	shadow_keep(shadow);
	if (set(marker, COMPLETE, on_marker, shadow))
		drop(shadow);
}

static bool is_done(const struct opencl_vendor *vendor, opencl_object event)
{
	int32_t status = 0;

	return !vendor_ask(vendor, ENTRY_clGetEventInfo, event, EVENT_STATUS, &status,
			   sizeof(status)) ||
	       status <= COMPLETE;
}

/* The last barrier holds in the other queue, too, while it is still to come. */
static void carry_barrier(const struct opencl_shadow *shadow, opencl_object to)
{
	const struct opencl_vendor *vendor = shadow->vendor;
	marker_function *barrier =
		(marker_function *)vendor->functions[ENTRY_clEnqueueBarrierWithWaitList];
	opencl_object last = 0, next = 0;

	if (shadow->session == writers_session())
		last = __atomic_exchange_n(&shadow->queue->barrier, 0, __ATOMIC_ACQ_REL);
	if (!last)
		return;
	if (!is_done(vendor, last) && !barrier(to, 1, &last, &next))
		shadow_note_barrier(shadow->queue, next);
	call_object(vendor, ENTRY_clReleaseEvent, last);
}

/* What is enqueued in one from now on comes after all that is in the other. */
static bool order(struct opencl_shadow *shadow, opencl_object from, opencl_object to)
{
	const struct opencl_vendor *vendor = shadow->vendor;
	marker_function *mark =
		(marker_function *)vendor->functions[ENTRY_clEnqueueMarkerWithWaitList];
	marker_function *barrier =
		(marker_function *)vendor->functions[ENTRY_clEnqueueBarrierWithWaitList];
	opencl_object marker = 0;
	bool is_ordered = shadow->view.is_ordered, is_done_well;

	if (!is_ordered)
		carry_barrier(shadow, to);
	if (mark(from, 0, NULL, &marker) || !marker)
		return false;
	if (from == shadow->ours)
		keep_until(shadow, marker);
	is_done_well = !call_object(vendor, ENTRY_clFlush, from) &&
		       !(is_ordered ? barrier : mark)(to, 1, &marker, NULL);
	call_object(vendor, ENTRY_clReleaseEvent, marker);
	return is_done_well;
}

static enum side side_of(const struct opencl_shadow *shadow)
{
	/* Acquire: pairs with step(). */
	return __atomic_load_n(&shadow->side, __ATOMIC_ACQUIRE);
}

static bool step(struct opencl_shadow *shadow, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&shadow->side, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

/* It is not used any more: its last user puts it down. */
static void close(struct opencl_shadow *shadow)
{
	if (__atomic_exchange_n(&shadow->is_closed, 1, __ATOMIC_ACQ_REL))
		return;
	if (shadow->session == writers_session()) {
		struct opencl_shadow *it = shadow;

		__atomic_compare_exchange_n(&shadow->queue->shadow, &it, NULL, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	}
	drop(shadow);
}

/* Another thread is at it: that takes no time unless it was put to sleep. */
static void await_change(const struct opencl_shadow *shadow, enum side during)
{
	struct timespec pause = { 0, PAUSE_NS };

	for (unsigned i = 0; i < MOVE_TRIES && side_of(shadow) == during; i++)
		raw2(SYS_nanosleep, &pause, 0);
}

/* Back to the program's queue, once and for all.  Who has kept it calls this. */
static void leave(struct opencl_shadow *shadow)
{
	await_change(shadow, TO_OURS);
	if (step(shadow, AT_OURS, TO_PROGRAMS)) {
		(void)order(shadow, shadow->ours, shadow->programs);
		step(shadow, TO_PROGRAMS, AT_PROGRAMS);
	} else if (!step(shadow, TO_OURS, AT_PROGRAMS)) {
		await_change(shadow, TO_PROGRAMS);
		return;
	}
	close(shadow);
}

static bool has_functions(const struct opencl_vendor *vendor)
{
	static const enum opencl_entry needed[] = {
		ENTRY_clEnqueueMarkerWithWaitList,
		ENTRY_clEnqueueBarrierWithWaitList,
		ENTRY_clSetEventCallback,
		ENTRY_clRetainCommandQueue,
		ENTRY_clReleaseCommandQueue,
		ENTRY_clReleaseEvent,
		ENTRY_clRetainEvent,
		ENTRY_clFlush,
		ENTRY_clFinish,
	};

	for (unsigned i = 0; i < ARRAY_SIZE(needed); i++)
		if (!vendor->functions[needed[i]])
			return false;
	return true;
}

static void add_property(uint64_t *properties, uint64_t name, uint64_t value)
{
	unsigned at = 0;

	while (properties[at] && properties[at] != name)
		at += 2;
	if (at + 2 > 2 * PROPERTIES_MAX)
		return;
	properties[at] = name;
	properties[at + 1] |= value;
}

/* What it was made with, as far as the driver tells; and times. */
static void ask_properties(const struct opencl_vendor *vendor, opencl_object queue,
			   uint64_t *properties)
{
	static const enum opencl_info hints[] = { QUEUE_PRIORITY, QUEUE_THROTTLE };
	const enum opencl_entry ask = ENTRY_clGetCommandQueueInfo;
	uint64_t bits = 0;

	if (!vendor_ask(vendor, ask, queue, QUEUE_PROPERTIES_ARRAY, properties,
			2 * PROPERTIES_MAX * sizeof(*properties)))
		properties[0] = 0;
	for (unsigned i = 0; !properties[0] && i < ARRAY_SIZE(hints); i++) {
		uint32_t value = 0;

		if (vendor_ask(vendor, ask, queue, hints[i], &value, sizeof(value)) && value)
			add_property(properties, hints[i], value);
	}
	vendor_ask(vendor, ask, queue, QUEUE_PROPERTIES, &bits, sizeof(bits));
	add_property(properties, QUEUE_PROPERTIES, bits | PROFILES);
}

static opencl_object make_queue(const struct opencl_vendor *vendor, opencl_object queue,
				opencl_object context, opencl_object device)
{
	create_queue_with *with =
		(create_queue_with *)vendor->functions[ENTRY_clCreateCommandQueueWithProperties];
	create_queue *plain = (create_queue *)vendor->functions[ENTRY_clCreateCommandQueue];
	uint64_t properties[2 * PROPERTIES_MAX + 1] = { 0 };
	int32_t error = 0;
	opencl_object made = 0;

	ask_properties(vendor, queue, properties);
	if (with)
		made = with(context, device, properties, &error);
	else if (plain && properties[0] == QUEUE_PROPERTIES && !properties[2])
		made = plain(context, device, properties[1], &error);
	return error ? 0 : made;
}

static uint32_t references(const struct opencl_vendor *vendor, enum opencl_entry entry,
			   opencl_object object, uint32_t name)
{
	uint32_t count = 0;

	vendor_ask(vendor, entry, object, name, &count, sizeof(count));
	return count;
}

static uint32_t references_of_context(const struct opencl_vendor *vendor, opencl_object context)
{
	return references(vendor, ENTRY_clGetContextInfo, context, CONTEXT_REFERENCES);
}

static uint32_t references_of_queue(const struct opencl_vendor *vendor, opencl_object queue)
{
	return references(vendor, ENTRY_clGetCommandQueueInfo, queue, QUEUE_REFERENCES);
}

static struct opencl_shadow *take_place(void)
{
	for (unsigned i = 0; i < SHADOWS_MAX; i++) {
		uint32_t nobody = 0;

		/* One for its use, one for who makes it. */
		if (__atomic_compare_exchange_n(&shadows[i].users, &nobody, 2, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return &shadows[i];
	}
	return NULL;
}

static void fill(struct opencl_shadow *shadow, const struct opencl_vendor *vendor,
		 struct opencl_queue *queue, opencl_object context, opencl_object ours)
{
	shadow->vendor = vendor;
	shadow->programs = queue->handle;
	shadow->ours = ours;
	shadow->context = context;
	shadow->queue = queue;
	shadow->session = writers_session();
	shadow->was_released = shadow->is_closed = 0;
	shadow->view.is_ordered = queue->is_ordered;
	__atomic_store_n(&shadow->side, TO_OURS, __ATOMIC_RELEASE);
}

/* Our queue, in a place of its own; the caller has kept it. */
static struct opencl_shadow *make(const struct opencl_vendor *vendor, struct opencl_queue *queue)
{
	opencl_object context = 0, ours = 0;
	struct opencl_shadow *shadow = take_place();
	uint32_t before;

	if (!shadow) {
		refuse(queue, REFUSED_MANY);
		return NULL;
	}
	vendor_ask(vendor, ENTRY_clGetCommandQueueInfo, queue->handle, QUEUE_CONTEXT, &context,
		   sizeof(context));
	before = references_of_context(vendor, context);
	ours = make_queue(vendor, queue->handle, context, queue->device_handle);
	if (!ours || call_object(vendor, ENTRY_clRetainCommandQueue, queue->handle)) {
		if (ours)
			call_object(vendor, ENTRY_clReleaseCommandQueue, ours);
		__atomic_store_n(&shadow->users, 0, __ATOMIC_RELEASE);
		refuse(queue, REFUSED_MAKING);
		return NULL;
	}
	shadow->context_references = references_of_context(vendor, context) > before;
	fill(shadow, vendor, queue, context, ours);
	return shadow;
}

/* Either we see that all is ending, or shadows_stop() sees the shadow. */
static void move(struct opencl_shadow *shadow)
{
	struct opencl_queue *queue = shadow->queue;

	__atomic_store_n(&queue->shadow, shadow, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&is_ending, __ATOMIC_SEQ_CST) ||
	    !order(shadow, shadow->programs, shadow->ours)) {
		if (!__atomic_load_n(&is_ending, __ATOMIC_SEQ_CST))
			refuse(queue, REFUSED_MAKING);
		if (step(shadow, TO_OURS, AT_PROGRAMS))
			close(shadow);
		return;
	}
	queue_view(queue, &shadow->view);
	__atomic_fetch_add(&timed, 1, __ATOMIC_RELAXED);
	step(shadow, TO_OURS, AT_OURS);
}

/* In a queue without order there may be barriers that we have not seen: they must be over. */
static bool is_past_unseen(const struct opencl_vendor *vendor, struct opencl_queue *queue)
{
	marker_function *mark =
		(marker_function *)vendor->functions[ENTRY_clEnqueueMarkerWithWaitList];

	if (queue->is_ordered || queue->is_new)
		return true;
	if (!queue->first && mark(queue->handle, 0, NULL, &queue->first))
		queue->first = 0;
	if (!queue->first || !is_done(vendor, queue->first))
		return false;
	call_object(vendor, ENTRY_clReleaseEvent, queue->first);
	queue->first = 0;
	queue->is_new = true;
	return true;
}

static enum opencl_refusal refusal_of(const struct opencl_vendor *vendor)
{
	if (!has_functions(vendor))
		return REFUSED_OLD;
	return __atomic_load_n(&vendor->refusal, __ATOMIC_RELAXED);
}

static bool may_move(const struct opencl_vendor *vendor, struct opencl_queue *queue)
{
	enum opencl_refusal why;

	if (__atomic_load_n(&is_ending, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&queue->refusal, __ATOMIC_RELAXED) ||
	    !__atomic_load_n(&vendor->is_settled, __ATOMIC_ACQUIRE))
		return false;
	why = refusal_of(vendor);
	if (why)
		refuse(queue, why);
	return !why && is_past_unseen(vendor, queue);
}

/* One thread makes it; the others go on with the program's queue meanwhile. */
static struct opencl_shadow *try_to_make(const struct opencl_vendor *vendor,
					 struct opencl_queue *queue)
{
	uint32_t nobody = 0;
	struct opencl_shadow *shadow = NULL;

	if (!__atomic_compare_exchange_n(&queue->maker, &nobody, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return NULL;
	if (!__atomic_load_n(&queue->shadow, __ATOMIC_ACQUIRE) && may_move(vendor, queue))
		shadow = make(vendor, queue);
	if (shadow)
		move(shadow);
	__atomic_store_n(&queue->maker, 0, __ATOMIC_RELEASE);
	return shadow;
}

/* The one that the queue has, kept. */
static struct opencl_shadow *find(const struct opencl_queue *queue)
{
	struct opencl_shadow *shadow = __atomic_load_n(&queue->shadow, __ATOMIC_ACQUIRE);

	if (!shadow || !keep(shadow))
		return NULL;
	if (shadow->queue == queue && shadow->programs == queue->handle)
		return shadow;
	drop(shadow);
	return NULL;
}

uint64_t shadow_enter(const struct opencl_vendor *vendor, opencl_object handle)
{
	struct opencl_queue *queue;
	struct opencl_shadow *shadow;
	enum side side;

	if (!shadows_are_wanted() || !vendor || !writers_are_on())
		return 0;
	queue = queue_find(vendor, handle);
	if (!queue || queue->has_profiling)
		return 0;
	shadow = find(queue);
	if (!shadow)
		shadow = try_to_make(vendor, queue);
	if (!shadow)
		return 0;
	side = side_of(shadow);
	return (uint64_t)shadow | (side == AT_OURS || side == TO_PROGRAMS ? CHOSE_OURS : 0);
}

static struct opencl_shadow *shadow_in(uint64_t token)
{
	return (struct opencl_shadow *)(token & ~(uint64_t)CHOSE_OURS);
}

struct opencl_shadow *shadow_chosen(uint64_t token)
{
	return token & CHOSE_OURS ? shadow_in(token) : NULL;
}

struct opencl_queue *shadow_view(struct opencl_shadow *shadow)
{
	return &shadow->view;
}

/* A call that knew of none may come out when there is one. */
static void order_late(const struct opencl_vendor *vendor, opencl_object handle)
{
	struct opencl_queue *queue = queue_find(vendor, handle);
	struct opencl_shadow *shadow = queue ? find(queue) : NULL;

	if (!shadow)
		return;
	if (side_of(shadow) <= AT_OURS)
		(void)order(shadow, shadow->programs, shadow->ours);
	drop(shadow);
}

void shadow_leave(const struct opencl_vendor *vendor, opencl_object handle, uint64_t token)
{
	struct opencl_shadow *shadow = shadow_in(token);
	bool chose_ours = token & CHOSE_OURS;
	enum side side;

	if (!token) {
		if (shadows_are_wanted() && vendor && writers_are_on())
			order_late(vendor, handle);
		return;
	}
	side = side_of(shadow);
	if (chose_ours && side >= TO_PROGRAMS)
		(void)order(shadow, shadow->ours, shadow->programs);
	else if (!chose_ours && side <= AT_OURS)
		(void)order(shadow, shadow->programs, shadow->ours);
	drop(shadow);
}

opencl_object shadow_handle(uint64_t token, opencl_object handle)
{
	return token & CHOSE_OURS ? shadow_in(token)->ours : handle;
}

opencl_object shadow_programs(uint64_t token, opencl_object handle)
{
	return token ? shadow_in(token)->programs : handle;
}

void shadow_give_up(const struct opencl_vendor *vendor, opencl_object handle,
		    enum opencl_refusal why)
{
	struct opencl_queue *queue;
	struct opencl_shadow *shadow;

	if (!shadows_are_wanted() || !writers_are_on())
		return;
	queue = queue_find(vendor, handle);
	if (!queue || queue->has_profiling)
		return;
	refuse(queue, why);
	shadow = find(queue);
	if (!shadow)
		return;
	leave(shadow);
	drop(shadow);
}

/* Functions that go past us are about to be had: all of this driver go back. */
void shadows_give_up(struct opencl_vendor *vendor)
{
	uint32_t none = 0;

	if (!shadows_are_wanted() ||
	    !__atomic_compare_exchange_n(&vendor->refusal, &none, REFUSED_BYPASS, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return;
	for (unsigned i = 0; i < SHADOWS_MAX; i++) {
		if (!keep(&shadows[i]))
			continue;
		if (shadows[i].vendor == vendor && shadows[i].session == writers_session()) {
			refuse(shadows[i].queue, REFUSED_BYPASS);
			leave(&shadows[i]);
		}
		drop(&shadows[i]);
	}
}

void shadow_note_barrier(struct opencl_queue *queue, opencl_object event)
{
	const struct opencl_vendor *vendor = queue->vendor;
	opencl_object before = __atomic_exchange_n(&queue->barrier, event, __ATOMIC_ACQ_REL);

	if (before)
		call_object(vendor, ENTRY_clReleaseEvent, before);
}

/* Has the program let go of its queue, and of all events in it?  Then so do we. */
static void end_if_unused(struct opencl_shadow *shadow)
{
	if (references_of_queue(shadow->vendor, shadow->programs) != 1 ||
	    references_of_queue(shadow->vendor, shadow->ours) != 1)
		return;
	if (step(shadow, AT_OURS, AT_PROGRAMS))
		close(shadow);
}

static void look_at(struct opencl_shadow *shadow)
{
	if (!__atomic_load_n(&shadow->users, __ATOMIC_RELAXED) || !keep(shadow))
		return;
	if (__atomic_load_n(&shadow->was_released, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&shadow->is_closed, __ATOMIC_ACQUIRE))
		end_if_unused(shadow);
	drop(shadow);
}

static uint64_t clock_ns(void)
{
	struct timespec now = { 0, 0 };

	raw2(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Calls that began before the hooks came put their commands where we do not see it; when they are
 * over, queues can be changed. */
void shadows_settle(struct opencl_vendor *vendor)
{
	if (vendor->is_settled || !vendor->hooked)
		return;
	if (!vendor->hooked_ns) {
		vendor->hooked_ns = clock_ns();
		if (!got_has_module("libOpenCL.so*"))
			vendor->refusal = REFUSED_DIRECT;
		else if (bypass_is_possible(vendor))
			vendor->refusal = REFUSED_BYPASS;
	}
	if (clock_ns() - vendor->hooked_ns >= GRACE_NS)
		__atomic_store_n(&vendor->is_settled, 1, __ATOMIC_RELEASE);
}

void shadows_look(void)
{
	for (unsigned i = 0; shadows_are_wanted() && i < SHADOWS_MAX; i++)
		look_at(&shadows[i]);
}

void shadows_stop(void)
{
	if (!shadows_are_wanted())
		return;
	__atomic_store_n(&is_ending, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < SHADOWS_MAX; i++) {
		void *driver = NULL;

		if (!keep(&shadows[i]))
			continue;
		if (!__atomic_load_n(&shadows[i].is_closed, __ATOMIC_ACQUIRE))
			driver = vendor_keep(shadows[i].vendor);
		if (driver) {
			leave(&shadows[i]);
			vendor_let_go(driver);
		}
		drop(&shadows[i]);
	}
	queues_stop();
}

uint32_t shadows_left(void)
{
	uint32_t left = 0;

	for (unsigned i = 0; i < SHADOWS_MAX; i++)
		left += __atomic_load_n(&shadows[i].users, __ATOMIC_ACQUIRE) != 0;
	return left;
}

/* Of those in use. */
static struct opencl_shadow *find_ours(opencl_object queue)
{
	for (unsigned i = 0; i < SHADOWS_MAX; i++) {
		struct opencl_shadow *shadow = &shadows[i];

		if (shadow->ours != queue || !keep(shadow))
			continue;
		if (shadow->ours == queue)
			return shadow;
		drop(shadow);
	}
	return NULL;
}

opencl_object shadow_owner(opencl_object queue)
{
	struct opencl_shadow *shadow = find_ours(queue);
	opencl_object programs;

	if (!shadow)
		return 0;
	programs = shadow->programs;
	drop(shadow);
	return programs;
}

/* The program's own references, and those of its events, wherever they are. */
uint32_t shadow_references(opencl_object handle, uint32_t count)
{
	for (unsigned i = 0; i < SHADOWS_MAX; i++) {
		struct opencl_shadow *shadow = &shadows[i];

		if (shadow->programs != handle || !keep(shadow))
			continue;
		if (shadow->programs == handle)
			count += references_of_queue(shadow->vendor, shadow->ours) - 2;
		drop(shadow);
	}
	return count;
}

uint32_t shadow_context_references(opencl_object context)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < SHADOWS_MAX; i++)
		if (shadows[i].context == context &&
		    __atomic_load_n(&shadows[i].users, __ATOMIC_ACQUIRE))
			sum += shadows[i].context_references;
	return sum;
}

void shadow_after_release(struct hook_around *around, uint64_t end)
{
	opencl_object handle = hook_argument(&around->frame, 0);

	(void)end;
	if (!shadows_are_wanted() || !writers_are_on())
		return;
	for (unsigned i = 0; i < SHADOWS_MAX; i++) {
		if (shadows[i].programs != handle || !keep(&shadows[i]))
			continue;
		if (shadows[i].programs == handle) {
			__atomic_store_n(&shadows[i].was_released, 1, __ATOMIC_RELAXED);
			end_if_unused(&shadows[i]);
		}
		drop(&shadows[i]);
	}
}
