/*
 * Hooks enqueue calls. Each call gets limpet's variable for its event. The application gets the
 * event if it requested one, and limpet keeps a reference of its own for the completion callback. A
 * call that the driver refuses fails exactly as without limpet; its arguments are not queried.
 */
#include "target/domains/opencl/command.h"
#include "target/hooks/thread.h"

typedef int32_t queue_function(opencl_object queue);

#define NO_EVENT 1u /* not an address: the driver has stored nothing */

static bool can_follow(const struct opencl_vendor *vendor)
{
	return vendor && vendor->functions[ENTRY_clSetEventCallback] &&
	       vendor->functions[ENTRY_clRetainEvent] && vendor->functions[ENTRY_clReleaseEvent];
}

/* Replaces the queue argument by the queue that the call uses. */
static void replace_queue(struct hook_around *around, const struct opencl_vendor *vendor)
{
	opencl_object queue = around->frame.arguments[0];
	uint64_t token = shadow_enter(vendor, queue);

	around->kept[KEPT_SHADOW] = token;
	around->frame.arguments[0] = shadow_handle(token, queue);
}

/* Restores the application's queue. */
static uint64_t restore_queue(struct hook_around *around)
{
	uint64_t token = around->kept[KEPT_SHADOW];

	around->frame.arguments[0] = shadow_programs(token, around->frame.arguments[0]);
	return token;
}

/* The driver would call the application's function with limpet's queue. */
static void refuse_function(const struct hook_around *around, const struct opencl_vendor *vendor)
{
	unsigned entry = vendor_entry(around->frame.hook);

	if ((entry == ENTRY_clEnqueueSVMFree || entry == ENTRY_clEnqueueSVMFreeARM) &&
	    hook_argument(&around->frame, 3))
		shadow_abandon(vendor, around->frame.arguments[0], REFUSED_FUNCTION);
}

void command_before(struct hook_around *around, uint64_t *window)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);
	unsigned entry = vendor_entry(around->frame.hook);
	unsigned event = opencl_descriptions[entry].event;

	if (!writers_are_on() || !can_follow(vendor) ||
	    (opencl_is_timed[entry] && !shadows_are_wanted()))
		return;
	refuse_function(around, vendor);
	replace_queue(around, vendor);
	around->kept[KEPT_POINTER] = hook_argument(&around->frame, event);
	around->kept[KEPT_SESSION] = writers_session();
	around->kept[KEPT_EVENT] = NO_EVENT;
	hook_set_argument(around, window, event, (uint64_t)&around->kept[KEPT_EVENT]);
}

static bool is_accepted(const struct hook_around *around)
{
	bool gives_address = around->frame.hook->traced->values[0].kind == VALUE_OBJECT;
	uint64_t result = around->frame.results[0];

	return around->kept[KEPT_EVENT] > NO_EVENT &&
	       (gives_address ? result != 0 : !(int32_t)result);
}

static void command_follow(const struct hook_around *around, const struct opencl_vendor *vendor,
			   uint64_t end)
{
	const struct description *description =
		&opencl_descriptions[vendor_entry(around->frame.hook)];
	struct opencl_shadow *shadow = shadow_chosen(around->kept[KEPT_SHADOW]);
	struct opencl_command command = {
		.event = around->kept[KEPT_EVENT],
		.vendor = vendor,
		.queue = shadow ? shadow_view(shadow)
				: queue_find(vendor, around->frame.arguments[0]),
		.shadow = shadow,
		.session = (uint32_t)around->kept[KEPT_SESSION],
		.thread = (uint32_t)thread_number(),
		.begin = around->frame.begin,
		.end = end,
	};
	struct accepted accepted = { around, vendor, command.queue, description, end };

	command.is_blocking = description->blocking &&
			      (uint32_t)hook_argument(&around->frame, description->blocking);
	description->describe(&accepted, &command.work);
	if (command.work.domain != DOMAINS)
		event_follow(&command);
	else
		vendor_call(vendor, ENTRY_clReleaseEvent, command.event);
}

/* Limpet's reference is made and noted before the application can see the event. */
static void deliver_event(struct hook_around *around, const struct opencl_vendor *vendor,
			  uint64_t end)
{
	uint64_t event = around->kept[KEPT_EVENT];
	uint64_t *asked = (uint64_t *)around->kept[KEPT_POINTER];
	bool is_wanted = is_accepted(around) && writers_are_on() &&
			 around->kept[KEPT_SESSION] == writers_session();

	if (event == NO_EVENT)
		return;
	if (is_wanted && asked)
		is_wanted = !vendor_call(vendor, ENTRY_clRetainEvent, event);
	if (is_wanted)
		command_follow(around, vendor, end);
	else if (!asked && event)
		vendor_call(vendor, ENTRY_clReleaseEvent, event);
	if (asked)
		*asked = event;
}

void command_after(struct hook_around *around, uint64_t end)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);
	uint64_t token;

	if (!around->kept[KEPT_SESSION])
		return;
	token = restore_queue(around);
	deliver_event(around, vendor, end);
	shadow_leave(vendor, around->frame.arguments[0], token);
}

void queued_before(struct hook_around *around, uint64_t *window)
{
	(void)window;
	replace_queue(around, vendor_of(around->frame.hook));
}

void queued_after(struct hook_around *around, uint64_t end)
{
	uint64_t token = restore_queue(around);

	(void)end;
	shadow_leave(vendor_of(around->frame.hook), around->frame.arguments[0], token);
}

/* For clFlush and clFinish: calls the function for the application's queue, too. */
void both_after(struct hook_around *around, uint64_t end)
{
	uint64_t token = restore_queue(around);
	opencl_object queue = around->frame.arguments[0];

	(void)end;
	if (shadow_chosen(token) && !(int32_t)around->frame.results[0])
		around->frame.results[0] =
			(uint32_t)((queue_function *)around->frame.hook->original)(queue);
	shadow_leave(vendor_of(around->frame.hook), queue, token);
}

/* An OpenCL 1.0 barrier has no event, so a marker right behind it represents it. */
static void mark_barrier(const struct hook_around *around, const struct opencl_vendor *vendor)
{
	typedef int32_t mark_function(opencl_object, uint32_t, const opencl_object *,
				      opencl_object *);
	mark_function *mark = (mark_function *)vendor->functions[ENTRY_clEnqueueMarkerWithWaitList];
	uint64_t token = around->kept[KEPT_SHADOW];
	opencl_object handle = around->frame.arguments[0], event = 0;
	struct opencl_queue *queue = queue_find(vendor, handle);

	if (queue && !queue->is_ordered && mark &&
	    !mark(shadow_handle(token, handle), 0, NULL, &event))
		shadow_note_barrier(queue, event, shadow_chosen(token));
}

void barrier_after(struct hook_around *around, uint64_t end)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);
	uint64_t token = restore_queue(around);

	(void)end;
	if (shadows_are_wanted() && writers_are_on() && vendor &&
	    !(int32_t)around->frame.results[0])
		mark_barrier(around, vendor);
	shadow_leave(vendor, around->frame.arguments[0], token);
}

/* Command buffers are bound to the queues in their list. */
void listed_before(struct hook_around *around, uint64_t *window)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);
	uint32_t count = (uint32_t)hook_argument(&around->frame, 0);
	const opencl_object *queues = (const opencl_object *)hook_argument(&around->frame, 1);

	(void)window;
	for (uint32_t i = 0; vendor && queues && i < MIN(count, OBJECTS_MAX); i++)
		shadow_abandon(vendor, queues[i], REFUSED_BUFFERS);
}

/* A call that changes a queue's properties. */
void queue_before_change(struct hook_around *around, uint64_t *window)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);

	(void)window;
	if (vendor && around->frame.arguments[0])
		shadow_abandon(vendor, around->frame.arguments[0], REFUSED_CHANGED);
}

/* Describes the queue again, with its new properties. */
void queue_after_change(struct hook_around *around, uint64_t end)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);

	(void)end;
	if (vendor && around->frame.arguments[0] && writers_are_on() && !shadows_are_wanted())
		queue_describe_again(vendor, around->frame.arguments[0]);
}
