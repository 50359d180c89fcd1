/*
 * A tool for tests that is simply visible: it takes no part, but the register library finds it.
 */
#include <stddef.h>
#include <stdint.h>

__attribute__((visibility("default"))) void *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority, void *id);

void *rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
			    void *id)
{
	(void)version, (void)runtime_version, (void)priority, (void)id;
	return NULL;
}
