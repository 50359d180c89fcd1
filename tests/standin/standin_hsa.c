/*
 * STAND-IN, for tests only, of AMD's libhsa-runtime64: a root table that points to six others, each
 * with its version in front, registered in hsa_init().  Memory of devices is the host's; queues and
 * signals are in standin_hsa_device.c.
 */
#include "standin_hsa.h"

#include "standin.h"
#include "standin_hsa_device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LATE_NS     500000
#define LIMIT_NS    5000000000ull
#define HSA_VERSION ROCPROFILER_REGISTER_COMPUTE_VERSION_3(1, 15, 0)

enum { CORE_SLOTS = 125, AMD_SLOTS = 74, FINALIZER_SLOTS = 6, IMAGE_SLOTS = 14, TOOLS_SLOTS = 6 };
enum { SAMPLING_SLOTS = 7, SUB_TABLES = 6 };
enum core_slot {
	SLOT_hsa_init = 0,
	SLOT_hsa_shut_down = 1,
	SLOT_hsa_system_get_info = 2,
	SLOT_hsa_queue_create = 7,
	SLOT_hsa_queue_destroy = 9,
	SLOT_hsa_queue_load_read_index_scacquire = 11,
	SLOT_hsa_queue_load_read_index_relaxed = 12,
	SLOT_hsa_queue_add_write_index_relaxed = 23,
	SLOT_hsa_iterate_agents = 5,
	SLOT_hsa_agent_get_info = 6,
	SLOT_hsa_agent_iterate_regions = 27,
	SLOT_hsa_signal_create = 37,
	SLOT_hsa_signal_destroy = 38,
	SLOT_hsa_signal_load_relaxed = 39,
	SLOT_hsa_signal_store_relaxed = 41,
	SLOT_hsa_signal_store_screlease = 42,
	SLOT_hsa_signal_wait_scacquire = 44,
	SLOT_hsa_executable_freeze = 86,
};

enum amd_slot {
	SLOT_hsa_amd_profiling_get_dispatch_time = 4,
	SLOT_hsa_amd_signal_async_handler = 7,
	SLOT_hsa_amd_memory_pool_get_info = 11,
	SLOT_hsa_amd_agent_iterate_memory_pools = 12,
	SLOT_hsa_amd_memory_pool_allocate = 13,
	SLOT_hsa_amd_memory_pool_free = 14,
	SLOT_hsa_amd_memory_async_copy = 15,
};
enum tools_slot { SLOT_alloc_start, SLOT_alloc_end, SLOT_free_start, SLOT_free_end };

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

static int users; /* the last one takes it down */
static bool is_dying;
static uint32_t pool_life; /* of the runtime: what is allocated ends with it */
static unsigned pool_count;
static jmp_buf *way_out; /* of the next hsa_init() */
static bool is_overlapping;
static pthread_mutex_t boot = PTHREAD_MUTEX_INITIALIZER;

static void reset_tables(void);
static bool is_intercepted(void);
static void register_tables(void);

bool standin_hsa_is_open(void)
{
	return __atomic_load_n(&users, __ATOMIC_ACQUIRE) != 0;
}

STANDIN_EXPORT void standin_hsa_leave_init(jmp_buf *to)
{
	way_out = to;
}

/* Tables are handed over each time that the runtime begins, and are as new when it ends. */
static int do_init(void)
{
	jmp_buf *to = way_out;

	way_out = NULL;
	if (to)
		longjmp(*to, 1);
	pthread_mutex_lock(&boot);
	if (!__atomic_fetch_add(&users, 1, __ATOMIC_ACQ_REL))
		register_tables();
	pthread_mutex_unlock(&boot);
	return 0;
}

static bool is_deleting(void)
{
	return __atomic_load_n(&is_dying, __ATOMIC_ACQUIRE);
}

static bool is_deleting_intercepted(void)
{
	return is_deleting() && is_intercepted();
}

static bool overlap_is_over(void)
{
	return !__atomic_load_n(&is_overlapping, __ATOMIC_ACQUIRE);
}

static void await(bool (*has_come)(void))
{
	for (uint64_t ns = 0; !has_come() && ns < LIMIT_NS; ns += LATE_NS)
		nanosleep(&(struct timespec){ 0, LATE_NS }, NULL);
}

static int do_shut_down(void)
{
	bool was_last = false;

	if (!standin_hsa_is_open())
		return HSA_CLOSED;
	pthread_mutex_lock(&boot);
	if (users == 1) {
		was_last = true;
		reset_tables();
		__atomic_store_n(&is_dying, true, __ATOMIC_RELEASE);
		standin_hsa_die();
		pool_life++;
		__atomic_store_n(&pool_count, 0, __ATOMIC_RELAXED);
		nanosleep(&(struct timespec){ 0, 2 * LATE_NS }, NULL);
		await(overlap_is_over);
		__atomic_store_n(&is_dying, false, __ATOMIC_RELEASE);
	}
	__atomic_sub_fetch(&users, 1, __ATOMIC_ACQ_REL);
	pthread_mutex_unlock(&boot);
	/* Others go ahead. */
	nanosleep(&(struct timespec){ 0, LATE_NS }, NULL);
	if (!was_last && !overlap_is_over())
		await(is_deleting_intercepted);
	return 0;
}

static void *shut_down_unseen(void *unused)
{
	while (__atomic_load_n(&users, __ATOMIC_ACQUIRE) != 1)
		nanosleep(&(struct timespec){ 0, LATE_NS }, NULL);
	(void)do_shut_down();
	return unused;
}

STANDIN_EXPORT bool standin_hsa_overlap(void)
{
	bool was_put;
	pthread_t thread;

	(void)hsa_init();
	__atomic_store_n(&is_overlapping, true, __ATOMIC_RELEASE);
	if (pthread_create(&thread, NULL, shut_down_unseen, NULL))
		abort();
	(void)hsa_shut_down();
	was_put = is_deleting_intercepted();
	__atomic_store_n(&is_overlapping, false, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	return was_put;
}

/* Of a runtime that is being deleted, the real one reads whatever is there. */
static int do_system_info(uint32_t what, void *ret)
{
	if (is_deleting())
		abort();
	if (!standin_hsa_is_open())
		return HSA_CLOSED;
	*(uint16_t *)ret = 1;
	return what ? 0x1001 : 0;
}

static int do_iterate(int (*visit)(uint64_t, void *), void *data)
{
	int r = standin_hsa_is_open() ? 0 : HSA_CLOSED;

	for (uint32_t i = 0; !r && i < AGENTS; i++)
		r = visit(standin_hsa_handle(AGENT_HANDLE, i), data);
	return r;
}

/* Whoever sets the variable wants devices of that architecture. */
static void name_agent(uint32_t node, char *ret)
{
	const char *wanted = getenv("STANDIN_GFX");

	if (!node)
		snprintf(ret, 64, "standin cpu %u", node);
	else if (wanted)
		snprintf(ret, 64, "%s", wanted);
	else
		snprintf(ret, 64, "gfx-standin-%u", node);
}

static int do_info(uint64_t agent, uint32_t what, void *ret)
{
	uint32_t node;

	if (!standin_hsa_is_open())
		return HSA_CLOSED;
	node = standin_hsa_node(AGENT_HANDLE, agent);
	if (what == 0)
		name_agent(node, ret);
	else if (what == 1)
		snprintf(ret, 64, "STAND-IN");
	else if (what == 0xa009)
		snprintf(ret, 64, "stand-in device %u", node);
	else if (what == 17)
		*(uint32_t *)ret = node ? 1 : 0;
	else if (what == 0xa004)
		*(uint32_t *)ret = node;
	else
		return 0x1001;
	return 0;
}

static int do_iterate_regions(uint64_t agent, int (*visit)(uint64_t, void *), void *data)
{
	(void)agent, (void)visit, (void)data;
	return 0;
}

static int do_iterate_pools(uint64_t agent, int (*visit)(uint64_t, void *), void *data)
{
	if (!standin_hsa_is_open())
		return HSA_CLOSED;
	return visit(standin_hsa_handle(POOL_HANDLE, standin_hsa_node(AGENT_HANDLE, agent)), data);
}

/* In front of each piece of memory. */
struct pool_memory {
	uint64_t magic, size;
	int32_t pid;
	uint32_t life;
	uint64_t reserved;
};
#define POOL_MAGIC 0x6c6f6f70u

STANDIN_EXPORT unsigned standin_hsa_memory(void)
{
	return __atomic_load_n(&pool_count, __ATOMIC_RELAXED);
}

/* STANDIN_MEMORY=N: no more than N pieces at a time. */
static bool pool_has_room(void)
{
	const char *limit = getenv("STANDIN_MEMORY");

	return !limit || standin_hsa_memory() < strtoul(limit, NULL, 10);
}

static int do_pool_allocate(uint64_t pool, size_t size, uint32_t flags, void **ret)
{
	struct pool_memory *memory = pool_has_room() ? malloc(sizeof(*memory) + size) : NULL;

	(void)standin_hsa_node(POOL_HANDLE, pool), (void)flags;
	if (!memory)
		return 0x1008;
	*memory = (struct pool_memory){ POOL_MAGIC, size, getpid(), pool_life, 0 };
	__atomic_fetch_add(&pool_count, 1, __ATOMIC_RELAXED);
	*ret = memory + 1;
	return 0;
}

/* All of it is global, fine grained, and may be taken. */
static int do_pool_info(uint64_t pool, uint32_t what, void *ret)
{
	(void)standin_hsa_node(POOL_HANDLE, pool);
	if (what == 0)
		*(uint32_t *)ret = 0;
	else if (what == 1)
		*(uint32_t *)ret = 2;
	else if (what == 5)
		*(bool *)ret = true;
	else
		return 0x1001;
	return 0;
}

/* Whoever gives back what is not there, in another process or after the runtime's end, ends the
 * program.  What was given back is poisoned, for devices that go on using it. */
static int do_pool_free(void *given)
{
	struct pool_memory *memory = (struct pool_memory *)given - 1;

	if (memory->magic != POOL_MAGIC || memory->pid != getpid() || memory->life != pool_life)
		abort();
	memset(memory, 0, sizeof(*memory) + memory->size);
	free(memory);
	__atomic_fetch_sub(&pool_count, 1, __ATOMIC_RELAXED);
	return 0;
}

static void fill(struct table_version *version, void **slots, uint32_t count, uint32_t major)
{
	*version = (struct table_version){ major, (uint32_t)(sizeof(*version) + 8 * count), 0, 0 };
	for (uint32_t i = 0; i < count; i++)
		slots[i] = (void *)standin_nothing;
}

/* The largest has CORE_SLOTS. */
static const struct {
	void **slots;
	unsigned count;
} changeable[SUB_TABLES] = {
	{ core.slots, CORE_SLOTS },
	{ amd_ext.slots, AMD_SLOTS },
	{ finalizer_ext.slots, FINALIZER_SLOTS },
	{ image_ext.slots, IMAGE_SLOTS },
	{ tools.slots, TOOLS_SLOTS },
	{ sampling_ext.slots, SAMPLING_SLOTS },
};
static void *fresh[SUB_TABLES][CORE_SLOTS];

__attribute__((constructor)) static void fill_tables(void)
{
	void *sub_tables[] = { &core, &amd_ext, &finalizer_ext, &image_ext, &tools, &sampling_ext };

	fill(&core.version, core.slots, CORE_SLOTS, 2);
	fill(&amd_ext.version, amd_ext.slots, AMD_SLOTS, 2);
	fill(&finalizer_ext.version, finalizer_ext.slots, FINALIZER_SLOTS, 2);
	fill(&image_ext.version, image_ext.slots, IMAGE_SLOTS, 2);
	fill(&tools.version, tools.slots, TOOLS_SLOTS, 1);
	memset(tools.slots, 0, sizeof(tools.slots)); /* empty as long as there is no tool */
	fill(&sampling_ext.version, sampling_ext.slots, SAMPLING_SLOTS, 1);
	fill(&root.version, root.slots, SUB_TABLES, 3);
	for (unsigned i = 0; i < SUB_TABLES; i++)
		root.slots[i] = sub_tables[i];
	core.slots[SLOT_hsa_init] = (void *)do_init;
	core.slots[SLOT_hsa_iterate_agents] = (void *)do_iterate;
	core.slots[SLOT_hsa_agent_get_info] = (void *)do_info;
	core.slots[SLOT_hsa_agent_iterate_regions] = (void *)do_iterate_regions;
	amd_ext.slots[SLOT_hsa_amd_agent_iterate_memory_pools] = (void *)do_iterate_pools;
	amd_ext.slots[SLOT_hsa_amd_memory_pool_get_info] = (void *)do_pool_info;
	amd_ext.slots[SLOT_hsa_amd_memory_pool_allocate] = (void *)do_pool_allocate;
	amd_ext.slots[SLOT_hsa_amd_memory_pool_free] = (void *)do_pool_free;
	core.slots[SLOT_hsa_shut_down] = (void *)do_shut_down;
	core.slots[SLOT_hsa_system_get_info] = (void *)do_system_info;
	for (const struct hsa_slot *at = hsa_core_slots; at->function; at++)
		core.slots[at->slot] = at->function;
	for (const struct hsa_slot *at = hsa_amd_slots; at->function; at++)
		amd_ext.slots[at->slot] = at->function;
	if (getenv("STANDIN_NO_TIMES"))
		amd_ext.slots[SLOT_hsa_amd_profiling_get_dispatch_time] = NULL;
	if (getenv("STANDIN_NO_INDEX"))
		core.slots[SLOT_hsa_queue_load_read_index_scacquire] = NULL;
	for (unsigned i = 0; i < SUB_TABLES; i++)
		memcpy(fresh[i], changeable[i].slots, changeable[i].count * sizeof(void *));
}

/* Entry by entry: other threads call through them meanwhile, and find none that does nothing. */
static void reset_tables(void)
{
	for (unsigned i = 0; i < SUB_TABLES; i++)
		for (unsigned k = 0; k < changeable[i].count; k++)
			__atomic_store_n(&changeable[i].slots[k], fresh[i][k], __ATOMIC_RELAXED);
}

static bool is_intercepted(void)
{
	return __atomic_load_n(&core.slots[SLOT_hsa_shut_down], __ATOMIC_ACQUIRE) !=
	       fresh[0][SLOT_hsa_shut_down];
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

/* Whoever set the variable wants a runtime that does so no more than once. */
static void register_tables(void)
{
	if (hsa.code < 0 || !getenv("STANDIN_REGISTER_ONCE"))
		standin_register(&hsa);
}

STANDIN_EXPORT int hsa_init(void)
{
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

STANDIN_EXPORT int hsa_signal_destroy(struct hsa_signal signal)
{
	return NOW(hsa_signal_destroy)(signal);
}

STANDIN_EXPORT void hsa_signal_store_screlease(struct hsa_signal signal, int64_t value)
{
	NOW(hsa_signal_store_screlease)(signal, value);
}

STANDIN_EXPORT int64_t hsa_signal_wait_scacquire(struct hsa_signal signal, uint32_t condition,
						 int64_t value, uint64_t timeout, int state)
{
	return NOW(hsa_signal_wait_scacquire)(signal, condition, value, timeout, state);
}

STANDIN_EXPORT int hsa_queue_create(uint64_t agent, uint32_t size, uint32_t type, void *callback,
				    void *data, uint32_t private_bytes, uint32_t group_bytes,
				    struct hsa_queue **ret)
{
	return NOW(hsa_queue_create)(agent, size, type, callback, data, private_bytes, group_bytes,
				     ret);
}

STANDIN_EXPORT int hsa_queue_destroy(struct hsa_queue *queue)
{
	return NOW(hsa_queue_destroy)(queue);
}

STANDIN_EXPORT uint64_t hsa_queue_load_read_index_relaxed(const struct hsa_queue *queue)
{
	return NOW(hsa_queue_load_read_index_relaxed)(queue);
}

STANDIN_EXPORT uint64_t hsa_queue_add_write_index_relaxed(const struct hsa_queue *queue,
							  uint64_t more)
{
	return NOW(hsa_queue_add_write_index_relaxed)(queue, more);
}

STANDIN_EXPORT int hsa_executable_freeze(uint64_t executable, const char *options)
{
	return NOW(hsa_executable_freeze)(executable, options);
}

#define NOW_AMD(name) \
	((__typeof__(&name))__atomic_load_n(&amd_ext.slots[SLOT_##name], __ATOMIC_RELAXED))

STANDIN_EXPORT int hsa_amd_signal_async_handler(struct hsa_signal signal, uint32_t condition,
						int64_t value, bool (*call)(int64_t, void *),
						void *data)
{
	return NOW_AMD(hsa_amd_signal_async_handler)(signal, condition, value, call, data);
}

STANDIN_EXPORT int hsa_iterate_agents(int (*visit)(uint64_t, void *), void *data)
{
	return NOW(hsa_iterate_agents)(visit, data);
}

STANDIN_EXPORT int hsa_agent_get_info(uint64_t agent, uint32_t what, void *ret)
{
	return NOW(hsa_agent_get_info)(agent, what, ret);
}

STANDIN_EXPORT int hsa_agent_iterate_regions(uint64_t agent, int (*visit)(uint64_t, void *),
					     void *data)
{
	return NOW(hsa_agent_iterate_regions)(agent, visit, data);
}

STANDIN_EXPORT int hsa_amd_agent_iterate_memory_pools(uint64_t agent,
						      int (*visit)(uint64_t, void *), void *data)
{
	return NOW_AMD(hsa_amd_agent_iterate_memory_pools)(agent, visit, data);
}

STANDIN_EXPORT int hsa_amd_memory_pool_allocate(uint64_t pool, size_t size, uint32_t flags,
						void **ret)
{
	return NOW_AMD(hsa_amd_memory_pool_allocate)(pool, size, flags, ret);
}

STANDIN_EXPORT int hsa_amd_memory_async_copy(void *to, uint64_t to_agent, const void *from,
					     uint64_t from_agent, size_t size, uint32_t count,
					     const struct hsa_signal *signals,
					     struct hsa_signal signal)
{
	return NOW_AMD(hsa_amd_memory_async_copy)(to, to_agent, from, from_agent, size, count,
						  signals, signal);
}

STANDIN_EXPORT int hsa_amd_memory_pool_free(void *memory)
{
	return NOW_AMD(hsa_amd_memory_pool_free)(memory);
}

STANDIN_EXPORT uint64_t standin_hsa_pool(uint32_t agent)
{
	return standin_hsa_handle(POOL_HANDLE, agent);
}

STANDIN_EXPORT uint64_t standin_hsa_agent(uint32_t node)
{
	return standin_hsa_handle(AGENT_HANDLE, node);
}

/* What a tool is told of scratch memory. */
struct scratch_event {
	uint32_t kind;
	const struct hsa_queue *queue;
	uint32_t flags;
	uint64_t dispatch;
	size_t size, slots;
};

static void tell(unsigned slot, const struct hsa_queue *queue, size_t size)
{
	int (*told)(const struct scratch_event *) =
		(__typeof__(told))__atomic_load_n(&tools.slots[slot], __ATOMIC_RELAXED);
	struct scratch_event event = { .kind = slot + 1, .queue = queue, .flags = 2 };

	if (slot == SLOT_alloc_end)
		event.size = size;
	if (told)
		told(&event);
}

STANDIN_EXPORT void standin_hsa_scratch(uint64_t id, size_t size)
{
	const struct hsa_queue *queue = standin_hsa_idle_queue(id);

	tell(SLOT_alloc_start, queue, size);
	tell(SLOT_alloc_end, queue, size);
	tell(SLOT_free_start, queue, size);
	tell(SLOT_free_end, queue, size);
}

STANDIN_EXPORT void standin_hsa_extensions(void)
{
	void **const first[] = { &image_ext.slots[0], &finalizer_ext.slots[0] };

	for (unsigned i = 0; i < 2; i++)
		((__typeof__(standin_nothing) *)__atomic_load_n(first[i], __ATOMIC_RELAXED))();
}

STANDIN_EXPORT void standin_hsa_print(void)
{
	standin_print(&hsa);
}
