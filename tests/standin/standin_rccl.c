/*
 * STAND-IN, for tests only, of AMD's librccl.so.1: one table of 37 slots, registered when it is
 * loaded.  With STANDIN_RCCL_HIDDEN the table is where nobody finds it by its shape.
 */
#include "standin.h"

#include <stdlib.h>

#define SLOTS 37

struct table {
	uint64_t size;
	int (*slots[SLOTS])(void);
};

static struct table own;

/* Calls the first function of the table, as the real one does for ncclAllGather. */
int standin_rccl_gather(void);
STANDIN_EXPORT int standin_rccl_gather(void)
{
	return __atomic_load_n(&own.slots[0], __ATOMIC_RELAXED)();
}

static uint32_t import_rccl(void)
{
	return 10000;
}

__attribute__((constructor)) static void begin(void)
{
	struct table *table = getenv("STANDIN_RCCL_HIDDEN") ? malloc(sizeof(*table)) : &own;
	struct standin_registration registration = {
		.name = "rccl", .version = 10000, .import = import_rccl, .part_count = 1
	};

	table->size = sizeof(*table);
	for (unsigned i = 0; i < SLOTS; i++)
		table->slots[i] = standin_nothing;
	registration.parts[0] = table;
	standin_register(&registration);
}
