/*
 * Creates a profiling queue beside each queue of the application that keeps no times
 * (--opencl-device-time). The application's commands go to limpet's queue, which is the same but
 * for its times; queries are answered as if it did not exist. Commands keep their order over the
 * change from one queue to the other and back:
 *
 * - In an in-order queue, all later commands wait for a marker in the queue before. They would also
 * have waited without limpet.
 * - In an out-of-order queue, the new queue gets a marker of the one before, so that a wait for all
 * commands waits for all; and its last barrier, if that is not complete.
 * - A call that chose its queue before the change, and returns after it, orders the queues once
 * more before it returns. So no thread waits for another, and there are no locks.
 *
 * Runs inside application calls, in the driver's callbacks, and on limpet's threads.
 */
#include "target/domains/opencl/shadow.h"

#include "shared/arch/syscall.h"
#include "target/hooks/got/got.h"
#include "target/runtime/kernel_clock.h"

#include <time.h>

#define GRACE_NS   250000000ull /* time in which calls that began before the hooks end */
#define CHOSE_OURS 1u           /* a bit of the token, beside the address */

static uint32_t timed, refused;

void shadows_start(bool wanted)
{
	shadows_set_wanted(wanted);
	timed = refused = 0;
}

void shadows_report(struct rings *rings)
{
	rings->queues_timed += __atomic_load_n(&timed, __ATOMIC_RELAXED);
	rings->queues_estimated += __atomic_load_n(&refused, __ATOMIC_RELAXED);
}

static void queue_refuse(struct opencl_queue *queue, enum opencl_refusal why)
{
	uint32_t none = 0;

	if (!__atomic_compare_exchange_n(&queue->refusal, &none, why, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return;
	__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
	note_raise(&opencl_notes[why]);
	queue_name_refused(queue, opencl_notes[why].text);
}

/* Creates limpet's queue and its slot; the caller has kept the shadow. */
static struct opencl_shadow *shadow_make(const struct opencl_vendor *vendor,
					 struct opencl_queue *queue)
{
	opencl_object context = 0, ours = 0;
	struct opencl_shadow *shadow = shadow_claim_slot();
	uint32_t before;

	if (!shadow) {
		queue_refuse(queue, REFUSED_MANY);
		return NULL;
	}
	vendor_query(vendor, ENTRY_clGetCommandQueueInfo, queue->handle, QUEUE_CONTEXT, &context,
		     sizeof(context));
	before = context_references(vendor, context);
	ours = twin_make(vendor, queue->handle, context, queue->device_handle);
	if (!ours || vendor_call(vendor, ENTRY_clRetainCommandQueue, queue->handle)) {
		if (ours)
			vendor_call(vendor, ENTRY_clReleaseCommandQueue, ours);
		shadow_free_slot(shadow);
		queue_refuse(queue, REFUSED_MAKING);
		return NULL;
	}
	shadow->context_references = context_references(vendor, context) > before;
	shadow_fill(shadow, vendor, queue, context, ours);
	return shadow;
}

/* Another thread may have refused the queue meanwhile. */
static bool is_refused(const struct opencl_shadow *shadow)
{
	return __atomic_load_n(&shadow->queue->refusal, __ATOMIC_SEQ_CST) ||
	       __atomic_load_n(&shadow->vendor->refusal, __ATOMIC_SEQ_CST);
}

/* Seq_cst: either this thread sees the end or refusal, or the other thread sees the shadow. */
static void shadow_move(struct opencl_shadow *shadow)
{
	struct opencl_queue *queue = shadow->queue;

	__atomic_store_n(&queue->shadow, shadow, __ATOMIC_SEQ_CST);
	if (shadows_are_ending() || is_refused(shadow) ||
	    !shadow_order(shadow, shadow->programs, shadow->ours)) {
		if (!shadows_are_ending())
			queue_refuse(queue, shadow->vendor->refusal ? shadow->vendor->refusal
								    : REFUSED_MAKING);
		if (shadow_step(shadow, TO_OURS, AT_PROGRAMS))
			shadow_close(shadow);
		return;
	}
	queue_view(queue, &shadow->view);
	/* Another thread may have given the shadow up meanwhile. */
	if (shadow_step(shadow, TO_OURS, AT_OURS))
		__atomic_fetch_add(&timed, 1, __ATOMIC_RELAXED);
}

/* Seq_cst: either this thread sees the end, or queues_stop() sees the event. */
static void keep_first(struct opencl_queue *queue, opencl_object first)
{
	__atomic_store_n(&queue->first, first, __ATOMIC_SEQ_CST);
	if (shadows_are_ending() && __atomic_exchange_n(&queue->first, 0, __ATOMIC_ACQ_REL))
		vendor_call(queue->vendor, ENTRY_clReleaseEvent, first);
}

/* An out-of-order queue may contain unseen barriers: all unseen commands must be complete. */
static bool is_past_unseen(const struct opencl_vendor *vendor, struct opencl_queue *queue)
{
	marker_function *mark =
		(marker_function *)vendor->functions[ENTRY_clEnqueueMarkerWithWaitList];
	opencl_object first;

	if (queue->is_ordered || queue->is_new)
		return true;
	/* Exchanged out, so that no other thread releases the event during the query. */
	first = __atomic_exchange_n(&queue->first, 0, __ATOMIC_ACQ_REL);
	if (!first && (mark(queue->handle, 0, NULL, &first) || !first))
		return false;
	queue->is_new = event_is_done(vendor, first);
	if (queue->is_new)
		vendor_call(vendor, ENTRY_clReleaseEvent, first);
	else
		keep_first(queue, first);
	return queue->is_new;
}

static bool may_move(const struct opencl_vendor *vendor, struct opencl_queue *queue)
{
	enum opencl_refusal why;

	if (shadows_are_ending() || __atomic_load_n(&queue->refusal, __ATOMIC_RELAXED) ||
	    !__atomic_load_n(&vendor->is_settled, __ATOMIC_ACQUIRE))
		return false;
	why = twin_is_possible(vendor) ? __atomic_load_n(&vendor->refusal, __ATOMIC_RELAXED)
				       : REFUSED_OLD;
	if (why)
		queue_refuse(queue, why);
	return !why && is_past_unseen(vendor, queue);
}

/* One thread makes the shadow; other threads use the application's queue meanwhile. */
static struct opencl_shadow *try_to_make(const struct opencl_vendor *vendor,
					 struct opencl_queue *queue)
{
	uint32_t unowned = 0;
	struct opencl_shadow *shadow = NULL;

	if (!__atomic_compare_exchange_n(&queue->maker, &unowned, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return NULL;
	if (!__atomic_load_n(&queue->shadow, __ATOMIC_ACQUIRE) && may_move(vendor, queue))
		shadow = shadow_make(vendor, queue);
	if (shadow)
		shadow_move(shadow);
	__atomic_store_n(&queue->maker, 0, __ATOMIC_RELEASE);
	return shadow;
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
	shadow = shadow_find(queue);
	if (!shadow)
		shadow = try_to_make(vendor, queue);
	if (!shadow)
		return 0;
	side = shadow_side(shadow);
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

/* A call that began without a shadow may return when there is one. */
static void order_late(const struct opencl_vendor *vendor, opencl_object handle)
{
	struct opencl_queue *queue = queue_find(vendor, handle);
	struct opencl_shadow *shadow = queue ? shadow_find(queue) : NULL;

	if (!shadow)
		return;
	if (shadow_side(shadow) <= AT_OURS)
		shadow_order_or_say(shadow, shadow->programs, shadow->ours);
	shadow_drop(shadow);
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
	side = shadow_side(shadow);
	if (chose_ours && side >= TO_PROGRAMS)
		shadow_order_or_say(shadow, shadow->ours, shadow->programs);
	else if (!chose_ours && side <= AT_OURS)
		shadow_order_or_say(shadow, shadow->programs, shadow->ours);
	shadow_drop(shadow);
}

opencl_object shadow_handle(uint64_t token, opencl_object handle)
{
	return token & CHOSE_OURS ? shadow_in(token)->ours : handle;
}

opencl_object shadow_programs(uint64_t token, opencl_object handle)
{
	return token ? shadow_in(token)->programs : handle;
}

void shadow_abandon(const struct opencl_vendor *vendor, opencl_object handle,
		    enum opencl_refusal why)
{
	struct opencl_queue *queue;
	struct opencl_shadow *shadow;

	if (!shadows_are_wanted() || !writers_are_on())
		return;
	queue = queue_find(vendor, handle);
	if (!queue || queue->has_profiling)
		return;
	queue_refuse(queue, why);
	shadow = shadow_find(queue);
	if (!shadow)
		return;
	shadow_return(shadow);
	shadow_drop(shadow);
}

/* The application is about to get functions that bypass the hooks: the driver's shadows return. */
void shadows_abandon(struct opencl_vendor *vendor)
{
	uint32_t none = 0;

	if (!shadows_are_wanted() ||
	    !__atomic_compare_exchange_n(&vendor->refusal, &none, REFUSED_BYPASS, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return;
	for (unsigned i = 0; i < SHADOWS_MAX; i++) {
		struct opencl_shadow *shadow = shadow_at(i);

		if (!shadow_try_keep(shadow))
			continue;
		if (shadow->vendor == vendor && shadow->session == writers_session()) {
			queue_refuse(shadow->queue, REFUSED_BYPASS);
			shadow_return(shadow);
		}
		shadow_drop(shadow);
	}
}

/* False: the driver was unloaded. */
static bool check_bypass(struct opencl_vendor *vendor)
{
	void *driver = vendor_keep(vendor);

	if (!driver)
		return false;
	if (!got_has_module("libOpenCL.so*"))
		vendor->refusal = REFUSED_DIRECT;
	else if (bypass_is_possible(vendor))
		vendor->refusal = REFUSED_BYPASS;
	got_release(driver);
	return true;
}

/* Calls from before the hooks enqueue unseen commands; after these, queues may get shadows. */
static void vendor_settle(struct opencl_vendor *vendor)
{
	if (vendor->is_settled || !vendor->hooked)
		return;
	if (!vendor->hooked_ns && check_bypass(vendor))
		vendor->hooked_ns = monotonic_ns();
	if (vendor->hooked_ns && monotonic_ns() - vendor->hooked_ns >= GRACE_NS)
		__atomic_store_n(&vendor->is_settled, 1, __ATOMIC_RELEASE);
}

void shadows_settle(void)
{
	struct opencl_vendor *vendor;

	for (uint32_t i = 0; shadows_are_wanted() && (vendor = vendor_at(i)); i++)
		if (vendor->session == writers_session())
			vendor_settle(vendor);
}

void shadows_stop(void)
{
	if (!shadows_are_wanted())
		return;
	shadows_set_ending();
	for (unsigned i = 0; i < SHADOWS_MAX; i++) {
		struct opencl_shadow *shadow = shadow_at(i);
		void *driver = NULL;

		if (!shadow_try_keep(shadow))
			continue;
		if (!__atomic_load_n(&shadow->is_closed, __ATOMIC_ACQUIRE))
			driver = vendor_keep(shadow->vendor);
		if (driver) {
			shadow_return(shadow);
			got_release(driver);
		}
		shadow_drop(shadow);
	}
	queues_stop();
}
