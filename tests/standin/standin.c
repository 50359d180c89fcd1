/*
 * STAND-IN, for tests only.  Linked into each stand-in runtime.
 */
#include "standin.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef rocprofiler_register_error_code_t
register_function(const char *, rocprofiler_register_import_func_t, uint32_t, void **, uint64_t,
		  rocprofiler_register_library_indentifier_t *);

int standin_nothing(void)
{
	return 0;
}

static register_function *find_register(const char *name)
{
	char variable[64];
	const char *path;
	void *handle, *function = NULL;

	snprintf(variable, sizeof(variable), "STANDIN_REGISTER_%s", name);
	path = getenv(variable);
	if (!path)
		return rocprofiler_register_library_api_table;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		function = dlsym(handle, "rocprofiler_register_library_api_table");
	return (register_function *)function;
}

void standin_register(struct standin_registration *self)
{
	rocprofiler_register_library_indentifier_t id = { UINT64_MAX };
	/* On the stack, gone afterwards: so are the arrays of the real ones. */
	void *tables[STANDIN_PARTS_MAX];
	char name[32];
	register_function *function = find_register(self->name);

	snprintf(name, sizeof(name), "%s", self->name);
	for (unsigned i = 0; i < self->part_count; i++)
		tables[i] = self->parts[i];
	if (function)
		self->code = (int)function(name, self->import, self->version, tables,
					   self->part_count, &id);
	self->handle = id.handle;
}

void standin_print(const struct standin_registration *self)
{
	for (unsigned i = 0; i < self->part_count; i++)
		printf("table %s %u %p %u\n", self->name, i, self->parts[i], self->slots[i]);
	printf("registered %s %d %" PRIu64 "\n", self->name, self->code, self->handle);
	fflush(stdout);
}
