/*
 * Slots of shadows, their reference counts and owners. No thread waits here. Runs inside
 * application calls, in the driver's callbacks, and on limpet's threads.
 */
#include "target/domains/opencl/shadow.h"

#define APART                                                                            \
	0x80000000u /* in `users`, while a shadow is made or released: it cannot be kept \
		     */

static struct opencl_shadow shadows[SHADOWS_MAX];

struct opencl_shadow *shadow_at(unsigned index)
{
	return &shadows[index];
}

/* In a forked child: the shadows are the parent's. */
void shadows_forget(void)
{
	for (unsigned i = 0; i < SHADOWS_MAX; i++)
		shadows[i] = (struct opencl_shadow){ 0 };
}

/* The last drop releases both queues. */
void shadow_drop(struct opencl_shadow *shadow)
{
	uint32_t users = __atomic_load_n(&shadow->users, __ATOMIC_RELAXED), next;

	do
		next = users == 1 ? APART : users - 1;
	while (!__atomic_compare_exchange_n(&shadow->users, &users, next, true, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED));
	if (next != APART)
		return;
	vendor_call(shadow->vendor, ENTRY_clReleaseCommandQueue, shadow->ours);
	vendor_call(shadow->vendor, ENTRY_clReleaseCommandQueue, shadow->programs);
	/* Release: pairs with shadow_claim_slot(); the slot is free. */
	__atomic_store_n(&shadow->users, 0, __ATOMIC_RELEASE);
}

bool shadow_try_keep(struct opencl_shadow *shadow)
{
	uint32_t users = __atomic_load_n(&shadow->users, __ATOMIC_RELAXED);

	while (users && users != APART)
		if (__atomic_compare_exchange_n(&shadow->users, &users, users + 1, true,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	return false;
}

void shadow_keep(struct opencl_shadow *shadow)
{
	__atomic_fetch_add(&shadow->users, 1, __ATOMIC_RELAXED);
}

struct opencl_shadow *shadow_claim_slot(void)
{
	for (unsigned i = 0; i < SHADOWS_MAX; i++) {
		uint32_t unowned = 0;

		if (__atomic_compare_exchange_n(&shadows[i].users, &unowned, APART, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return &shadows[i];
	}
	return NULL;
}

void shadow_free_slot(struct opencl_shadow *shadow)
{
	__atomic_store_n(&shadow->users, 0, __ATOMIC_RELEASE);
}

void shadow_fill(struct opencl_shadow *shadow, const struct opencl_vendor *vendor,
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
	shadow->side = TO_OURS;
	/* One user until it is closed, one for its maker. Release: pairs with the acquire in
	 * shadow_try_keep(); publishes a complete shadow. */
	__atomic_store_n(&shadow->users, 2, __ATOMIC_RELEASE);
}

struct opencl_shadow *shadow_find(const struct opencl_queue *queue)
{
	struct opencl_shadow *shadow = __atomic_load_n(&queue->shadow, __ATOMIC_ACQUIRE);

	if (!shadow || !shadow_try_keep(shadow))
		return NULL;
	if (shadow->queue == queue && shadow->programs == queue->handle)
		return shadow;
	shadow_drop(shadow);
	return NULL;
}

uint32_t shadows_left(void)
{
	uint32_t left = 0;

	for (unsigned i = 0; i < SHADOWS_MAX; i++)
		left += __atomic_load_n(&shadows[i].users, __ATOMIC_ACQUIRE) != 0;
	return left;
}

/* Finds and keeps the shadow with this queue of limpet's. */
static struct opencl_shadow *find_ours(opencl_object queue)
{
	for (unsigned i = 0; i < SHADOWS_MAX; i++) {
		struct opencl_shadow *shadow = &shadows[i];

		if (shadow->ours != queue || !shadow_try_keep(shadow))
			continue;
		if (shadow->ours == queue)
			return shadow;
		shadow_drop(shadow);
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
	shadow_drop(shadow);
	return programs;
}

/* Adds the references that the application and its events have to limpet's queue. */
uint32_t shadow_references(opencl_object handle, uint32_t count)
{
	for (unsigned i = 0; i < SHADOWS_MAX; i++) {
		struct opencl_shadow *shadow = &shadows[i];

		if (shadow->programs != handle || !shadow_try_keep(shadow))
			continue;
		if (shadow->programs == handle)
			count += queue_references(shadow->vendor, shadow->ours) - 2;
		shadow_drop(shadow);
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
