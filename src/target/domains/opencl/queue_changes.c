/*
 * Hooks calls that change a queue's properties.
 */
#include "target/domains/opencl/opencl.h"

void queue_before_change(struct hook_around *around, uint64_t *window)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);

	(void)window;
	if (vendor && around->frame.arguments[0])
		shadow_give_up(vendor, around->frame.arguments[0], REFUSED_CHANGED);
}

/* Describes the queue again, with its new properties. */
void queue_after_change(struct hook_around *around, uint64_t end)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);

	(void)end;
	if (vendor && around->frame.arguments[0] && writers_are_on() && !shadows_are_wanted())
		queue_meet_again(vendor, around->frame.arguments[0]);
}
