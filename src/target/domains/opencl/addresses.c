/*
 * Hooks the calls by which the application gets a function's address by name. Runs after these.
 */
#include "target/domains/opencl/opencl.h"
#include "target/hooks/wants.h"

static const char *name_asked(const struct hook_around *around)
{
	bool is_for_platform =
		vendor_entry(around->frame.hook) == ENTRY_clGetExtensionFunctionAddressForPlatform;

	return (const char *)hook_argument(&around->frame, is_for_platform);
}

/* Replaces the address by the hook's stub. The application keeps the stub after detach; it then
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
		shadows_give_up(vendor_with_table(vendor->table));
}
