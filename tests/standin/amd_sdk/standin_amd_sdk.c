/*
 * STAND-IN, for tests only, of AMD's librocprofiler-sdk.so as its register library sees it: it
 * takes tables and is told of attaches.  Like the real one it ends the program when it is given the
 * first instance of a table twice.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT    __attribute__((visibility("default")))
#define NAMES_MAX 16

static char names[NAMES_MAX][32]; /* whose first instance has come */
static unsigned count;

EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t length);
EXPORT int rocprofiler_attach(void);
EXPORT int rocprofiler_detach(void);

EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t length)
{
	(void)version;
	(void)tables;
	(void)length;
	if (instance)
		return 0;
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			abort();
	if (count == NAMES_MAX)
		return 1;
	strncpy(names[count++], name, sizeof(names[0]) - 1);
	return 0;
}

/* Without tables there is nothing to attach to. */
EXPORT int rocprofiler_attach(void)
{
	return count ? 0 : 1;
}

EXPORT int rocprofiler_detach(void)
{
	return 0;
}
