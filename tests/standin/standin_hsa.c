/*
 * STAND-IN, for tests only, of AMD's libhsa-runtime64: a root table that points to six others, each
 * with its version in front, registered in hsa_init().  Signals are plain words.
 */
#include "standin_hsa.h"

#include "standin.h"

#include <stdlib.h>

#define HSA_VERSION ROCPROFILER_REGISTER_COMPUTE_VERSION_3(1, 15, 0)

enum { CORE_SLOTS = 125, AMD_SLOTS = 74, FINALIZER_SLOTS = 6, IMAGE_SLOTS = 14, TOOLS_SLOTS = 6 };
enum { SAMPLING_SLOTS = 7, SUB_TABLES = 6 };
enum core_slot {
	SLOT_hsa_init = 0,
	SLOT_hsa_shut_down = 1,
	SLOT_hsa_signal_create = 37,
	SLOT_hsa_signal_load_relaxed = 39,
	SLOT_hsa_signal_store_relaxed = 41,
};

struct table_version {
	uint32_t major, minor, step, reserved; /* minor is the size of the table */
};

#define TABLE(name, count)                    \
	static struct {                       \
		struct table_version version; \
		void *slots[count];           \
	} name

TABLE(core, CORE_SLOTS);
TABLE(amd_ext, AMD_SLOTS);
TABLE(finalizer_ext, FINALIZER_SLOTS);
TABLE(image_ext, IMAGE_SLOTS);
TABLE(tools, TOOLS_SLOTS);
TABLE(sampling_ext, SAMPLING_SLOTS);
TABLE(root, SUB_TABLES);

static int do_init(void)
{
	return 0;
}

static int do_create(int64_t value, uint32_t consumer_count, const void *consumers,
		     struct hsa_signal *ret)
{
	int64_t *word = malloc(sizeof(*word));

	(void)consumer_count, (void)consumers;
	if (!word)
		return 0x1008;
	*word = value;
	ret->handle = (uint64_t)word;
	return 0;
}

static int64_t do_load(struct hsa_signal signal)
{
	return __atomic_load_n((int64_t *)signal.handle, __ATOMIC_RELAXED);
}

static void do_store(struct hsa_signal signal, int64_t value)
{
	__atomic_store_n((int64_t *)signal.handle, value, __ATOMIC_RELAXED);
}

static void fill(struct table_version *version, void **slots, uint32_t count, uint32_t major)
{
	*version = (struct table_version){ major, (uint32_t)(sizeof(*version) + 8 * count), 0, 0 };
	for (uint32_t i = 0; i < count; i++)
		slots[i] = (void *)standin_nothing;
}

__attribute__((constructor)) static void fill_tables(void)
{
	void *sub_tables[] = { &core, &amd_ext, &finalizer_ext, &image_ext, &tools, &sampling_ext };

	fill(&core.version, core.slots, CORE_SLOTS, 2);
	fill(&amd_ext.version, amd_ext.slots, AMD_SLOTS, 2);
	fill(&finalizer_ext.version, finalizer_ext.slots, FINALIZER_SLOTS, 2);
	fill(&image_ext.version, image_ext.slots, IMAGE_SLOTS, 2);
	fill(&tools.version, tools.slots, TOOLS_SLOTS, 1);
	fill(&sampling_ext.version, sampling_ext.slots, SAMPLING_SLOTS, 1);
	fill(&root.version, root.slots, SUB_TABLES, 3);
	for (unsigned i = 0; i < SUB_TABLES; i++)
		root.slots[i] = sub_tables[i];
	core.slots[SLOT_hsa_init] = (void *)do_init;
	core.slots[SLOT_hsa_signal_create] = (void *)do_create;
	core.slots[SLOT_hsa_signal_load_relaxed] = (void *)do_load;
	core.slots[SLOT_hsa_signal_store_relaxed] = (void *)do_store;
}

ROCPROFILER_REGISTER_DEFINE_IMPORT(hsa, HSA_VERSION)

static struct standin_registration hsa = {
	.name = "hsa",
	.version = HSA_VERSION,
	.import = ROCPROFILER_REGISTER_IMPORT_FUNC(hsa),
	.part_count = 1,
	.parts = { &root },
	.slots = { SUB_TABLES },
	.code = -1,
};

#define NOW(name) ((__typeof__(&name))__atomic_load_n(&core.slots[SLOT_##name], __ATOMIC_RELAXED))

STANDIN_EXPORT int hsa_init(void)
{
	static int is_registered;

	if (!__atomic_exchange_n(&is_registered, 1, __ATOMIC_ACQ_REL))
		standin_register(&hsa);
	return NOW(hsa_init)();
}

STANDIN_EXPORT int hsa_shut_down(void)
{
	return NOW(hsa_shut_down)();
}

STANDIN_EXPORT int hsa_signal_create(int64_t value, uint32_t consumer_count, const void *consumers,
				     struct hsa_signal *ret)
{
	return NOW(hsa_signal_create)(value, consumer_count, consumers, ret);
}

STANDIN_EXPORT int64_t hsa_signal_load_relaxed(struct hsa_signal signal)
{
	return NOW(hsa_signal_load_relaxed)(signal);
}

STANDIN_EXPORT void hsa_signal_store_relaxed(struct hsa_signal signal, int64_t value)
{
	NOW(hsa_signal_store_relaxed)(signal, value);
}

STANDIN_EXPORT void standin_hsa_print(void)
{
	standin_print(&hsa);
}
