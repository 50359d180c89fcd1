/*
 * Runs on limpet's threads, one at a time.
 */
#include "target/amd/counters/aqlprofile.h"

#include "target/runtime/libc_calls.h"

static const char *const libraries[] = { "libhsa-amd-aqlprofile64.so.1",
					 "libhsa-amd-aqlprofile64.so",
					 "/opt/rocm/lib/libhsa-amd-aqlprofile64.so.1" };

static struct aqlprofile functions;
static bool is_whole;

static void functions_find(void *library)
{
	static const char *const names[] = {
		"aqlprofile_register_agent_info", "aqlprofile_get_pmc_info",
		"aqlprofile_validate_pmc_event",  "aqlprofile_pmc_create_packets",
		"aqlprofile_pmc_iterate_data",    "aqlprofile_iterate_event_coord",
		"aqlprofile_pmc_delete_packets",
	};
	void **into = (void **)&functions;

	_Static_assert(ARRAY_SIZE(names) * sizeof(void *) == sizeof(functions), "in their order");
	is_whole = true;
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		into[i] = libc_symbol(library, names[i]);
		is_whole &= into[i] != NULL;
	}
}

const struct aqlprofile *aqlprofile_load(void)
{
	for (unsigned i = 0; !is_whole && i < ARRAY_SIZE(libraries); i++) {
		/* Never closed: its packets may still be in queues. */
		void *library = libc_open(libraries[i], RTLD_NOW | RTLD_LOCAL);

		if (library)
			functions_find(library);
	}
	return is_whole ? &functions : NULL;
}
