/*
 * STAND-IN, for tests only, of AMD's librocprofiler-sdk-attach.so, which is there in a process that
 * AMD's tools may attach to.  The stand-in of the register library does its work.
 */
#include <stdint.h>

__attribute__((visibility("default"))) int
rocprofiler_attach_set_api_table(const char *name, uint64_t version, uint64_t instance,
				 void **tables, uint64_t length, void *functor);

int rocprofiler_attach_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t length, void *functor)
{
	(void)name;
	(void)version;
	(void)instance;
	(void)tables;
	(void)length;
	(void)functor;
	return 0;
}
