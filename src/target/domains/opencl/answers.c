/*
 * Corrects what the driver returns about events, queues and contexts: the application gets the same
 * as without limpet; and function addresses. Runs inside its query calls, after the driver's
 * function.
 */
#include "target/domains/opencl/opencl.h"
#include "target/hooks/wants.h"

#define NOT_AVAILABLE (-7) /* CL_PROFILING_INFO_NOT_AVAILABLE */

/* Arguments of query calls: object, name, size, value, stored size. */
enum { OBJECT, NAME, SIZE, VALUE, STORED };
enum { KEPT_IS_OURS };

/* Returns where the driver stored this property; NULL: another property, or a failed call. */
static void *answer_to(const struct hook_around *around, uint32_t name)
{
	bool is_answered = !(int32_t)around->frame.results[0] && writers_are_on() &&
			   vendor_of(around->frame.hook);

	return is_answered && (uint32_t)hook_argument(&around->frame, NAME) == name
		       ? (void *)hook_argument(&around->frame, VALUE)
		       : NULL;
}

void event_after_info(struct hook_around *around, uint64_t end)
{
	uint32_t *references = answer_to(around, EVENT_REFERENCES), count;
	opencl_object *queue = answer_to(around, EVENT_QUEUE), owner;

	(void)end;
	if (references && event_references(vendor_of(around->frame.hook),
					   hook_argument(&around->frame, OBJECT), &count))
		*references = count;
	owner = queue && shadows_are_wanted() ? shadow_owner(*queue) : 0;
	if (owner)
		*queue = owner;
}

void queue_after_info(struct hook_around *around, uint64_t end)
{
	uint32_t *references = answer_to(around, QUEUE_REFERENCES);

	(void)end;
	if (references && shadows_are_wanted())
		*references = shadow_references(hook_argument(&around->frame, OBJECT), *references);
}

void context_after_info(struct hook_around *around, uint64_t end)
{
	uint32_t *references = answer_to(around, CONTEXT_REFERENCES);

	(void)end;
	if (references && shadows_are_wanted())
		*references -= shadow_context_references(hook_argument(&around->frame, OBJECT));
}

/* The application's queue has no profiling: the query must fail, so the call gets no buffer. */
void profiling_before_info(struct hook_around *around, uint64_t *window)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);
	opencl_object queue = 0;

	if (!vendor || !shadows_are_wanted() || !writers_are_on() ||
	    !vendor_query(vendor, ENTRY_clGetEventInfo, hook_argument(&around->frame, OBJECT),
			  EVENT_QUEUE, &queue, sizeof(queue)) ||
	    !queue || !shadow_owner(queue))
		return;
	around->kept[KEPT_IS_OURS] = 1;
	for (unsigned i = SIZE; i <= STORED; i++)
		hook_set_argument(around, window, i, 0);
}

void profiling_after_info(struct hook_around *around, uint64_t end)
{
	(void)end;
	if (around->kept[KEPT_IS_OURS])
		around->frame.results[0] = (uint32_t)NOT_AVAILABLE;
}

static const char *name_asked(const struct hook_around *around)
{
	bool is_for_platform =
		vendor_entry(around->frame.hook) == ENTRY_clGetExtensionFunctionAddressForPlatform;

	return (const char *)hook_argument(&around->frame, is_for_platform);
}

/* For calls by which the application gets a function's address by name: replaces the address by the
 * hook's stub. The application keeps the stub after detach; it then
 * jumps straight to the driver's function. */
void vendor_after_address(struct hook_around *around, uint64_t end)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);
	uint64_t function = around->frame.results[0];

	(void)end;
	if (!vendor || !function || !writers_are_on())
		return;
	for (unsigned entry = 0; entry < OPENCL_ENTRIES; entry++) {
		uint64_t stub = __atomic_load_n(&vendor->stubs[entry], __ATOMIC_ACQUIRE);

		if (stub && vendor->functions[entry] == function) {
			around->frame.results[0] = stub;
			return;
		}
	}
	if (pattern_matches("clEnqueue*", 10, name_asked(around)))
		shadows_abandon(vendor_with_table(vendor->table));
}
