/*
 * Ends limpet's queues that the application no longer uses. Runs after its calls, and on limpet's
 * thread.
 */
#include "target/domains/opencl/shadow.h"

/* Ends the shadow once the application has released its queue and all events in it. */
static void end_if_unused(struct opencl_shadow *shadow)
{
	if (queue_references(shadow->vendor, shadow->programs) != 1 ||
	    queue_references(shadow->vendor, shadow->ours) != 1)
		return;
	if (shadow_step(shadow, AT_OURS, AT_PROGRAMS))
		shadow_close(shadow);
}

/* On limpet's thread, where the driver may be unloaded meanwhile. */
static void check_shadow(struct opencl_shadow *shadow)
{
	void *driver = NULL;

	if (!__atomic_load_n(&shadow->users, __ATOMIC_RELAXED) || !shadow_try_keep(shadow))
		return;
	if (__atomic_load_n(&shadow->was_released, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&shadow->is_closed, __ATOMIC_ACQUIRE))
		driver = vendor_keep(shadow->vendor);
	if (driver) {
		end_if_unused(shadow);
		got_release(driver);
	}
	shadow_drop(shadow);
}

void shadows_check(void)
{
	for (unsigned i = 0; shadows_are_wanted() && i < SHADOWS_MAX; i++)
		check_shadow(shadow_at(i));
}

void shadow_after_release(struct hook_around *around, uint64_t end)
{
	opencl_object handle = hook_argument(&around->frame, 0);

	(void)end;
	if (!shadows_are_wanted() || !writers_are_on())
		return;
	for (unsigned i = 0; i < SHADOWS_MAX; i++) {
		struct opencl_shadow *shadow = shadow_at(i);

		if (shadow->programs != handle || !shadow_try_keep(shadow))
			continue;
		if (shadow->programs == handle) {
			__atomic_store_n(&shadow->was_released, 1, __ATOMIC_RELAXED);
			end_if_unused(shadow);
		}
		shadow_drop(shadow);
	}
}
