/*
 * Keeps the order of commands over a change of queues, see shadow.c. Runs inside application calls,
 * in the driver's callbacks, and on limpet's threads.
 */
#include "target/domains/opencl/shadow.h"
#include "target/runtime/kernel_clock.h"

#define COMPLETE   0
#define TURN_TRIES 50u
#define PAUSE_NS   1000000

typedef void event_callback(opencl_object event, int32_t status, void *context);
typedef int32_t set_callback(opencl_object event, int32_t status, event_callback *callback,
			     void *context);

static void on_marker(opencl_object event, int32_t status, void *context)
{
	(void)event;
	(void)status;
	shadow_drop(context);
}

/* Keeps limpet's queue until it is empty: the driver may wait when a queue is released. */
static void keep_until(struct opencl_shadow *shadow, opencl_object marker)
{
	set_callback *set = (set_callback *)shadow->vendor->functions[ENTRY_clSetEventCallback];

	shadow_keep(shadow);
	if (set(marker, COMPLETE, on_marker, shadow))
		shadow_drop(shadow);
}

bool event_is_done(const struct opencl_vendor *vendor, opencl_object event)
{
	int32_t status = 0;

	return !vendor_query(vendor, ENTRY_clGetEventInfo, event, EVENT_STATUS, &status,
			     sizeof(status)) ||
	       status <= COMPLETE;
}

/* Repeats the last barrier in the other queue, unless it is complete. */
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
	if (!event_is_done(vendor, last) && !barrier(to, 1, &last, &next))
		shadow_note_barrier(shadow->queue, next, to == shadow->ours);
	vendor_call(vendor, ENTRY_clReleaseEvent, last);
}

bool shadow_order(struct opencl_shadow *shadow, opencl_object from, opencl_object to)
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
	is_done_well = !vendor_call(vendor, ENTRY_clFlush, from) &&
		       !(is_ordered ? barrier : mark)(to, 1, &marker, NULL);
	vendor_call(vendor, ENTRY_clReleaseEvent, marker);
	return is_done_well;
}

void shadow_order_or_say(struct opencl_shadow *shadow, opencl_object from, opencl_object to)
{
	if (!shadow_order(shadow, from, to))
		note_raise(&opencl_notes[SAY_NO_ORDER]);
}

enum side shadow_side(const struct opencl_shadow *shadow)
{
	/* Acquire: pairs with shadow_step(). */
	return __atomic_load_n(&shadow->side, __ATOMIC_ACQUIRE);
}

bool shadow_step(struct opencl_shadow *shadow, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&shadow->side, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

void shadow_close(struct opencl_shadow *shadow)
{
	if (__atomic_exchange_n(&shadow->is_closed, 1, __ATOMIC_ACQ_REL))
		return;
	if (shadow->session == writers_session()) {
		struct opencl_shadow *it = shadow;

		__atomic_compare_exchange_n(&shadow->queue->shadow, &it, NULL, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	}
	shadow_drop(shadow);
}

/* Another thread is returning, and may carry the last barrier over: short unless preempted. */
static void await_turn(const struct opencl_shadow *shadow)
{
	for (unsigned i = 0; i < TURN_TRIES && shadow_side(shadow) == TO_PROGRAMS; i++)
		sleep_ns(PAUSE_NS);
}

/* A shadow that was never used needs no ordering. If two threads return at once, both order the
 * queues, and the first one completes the step. */
void shadow_return(struct opencl_shadow *shadow)
{
	if (!shadow_step(shadow, TO_OURS, AT_PROGRAMS)) {
		if (!shadow_step(shadow, AT_OURS, TO_PROGRAMS) && !shadow->view.is_ordered)
			await_turn(shadow);
		if (shadow_side(shadow) != TO_PROGRAMS)
			return;
		shadow_order_or_say(shadow, shadow->ours, shadow->programs);
		if (!shadow_step(shadow, TO_PROGRAMS, AT_PROGRAMS))
			return;
	}
	shadow_close(shadow);
}

void shadow_note_barrier(struct opencl_queue *queue, opencl_object event, bool is_in_ours)
{
	const struct opencl_vendor *vendor = queue->vendor;
	opencl_object before = __atomic_exchange_n(&queue->barrier, event, __ATOMIC_SEQ_CST);

	if (before)
		vendor_call(vendor, ENTRY_clReleaseEvent, before);
	/* Seq_cst: either this thread sees the end, or queues_stop() sees the event. A barrier in
	 * limpet's queue must still be carried to the application's. */
	if (!is_in_ours && shadows_are_ending() &&
	    __atomic_compare_exchange_n(&queue->barrier, &event, 0, false, __ATOMIC_ACQ_REL,
					__ATOMIC_RELAXED))
		vendor_call(vendor, ENTRY_clReleaseEvent, event);
}
