/*
 * On threads of ours, one at a time; packets_read() also on the runtime's; packets_drop() and
 * memory_notice() also on the program's.
 */
#include "target/domains/amd/counters/packets.h"

#include "shared/arch/syscall.h"
#include "target/domains/amd/hsa/calls.h"
#include "target/runtime/patience.h"

#include <string.h>

#define EXECUTABLE_FLAG  4u
#define OUT_OF_RESOURCES 0x1008
#define GLANCE_NS        100000
#define LIMIT_NS         1000000000ull /* exit() does not wait for ever */

static const struct aqlprofile *library;
static uint64_t host_pool;
static uint32_t is_over, inside; /* the list; threads that use it */
static int32_t user;             /* the process that has made sets */

void packets_use(const struct aqlprofile *found, uint64_t pool)
{
	library = found;
	host_pool = pool;
	user = (int32_t)raw0(SYS_getpid);
}

/* Sequentially consistent: each side says what it does before it looks at the other. */
static void list_leave(void)
{
	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

/* False: it is ending, or has ended. */
static bool list_enter(void)
{
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&is_over, __ATOMIC_SEQ_CST))
		return true;
	list_leave();
	return false;
}

/* Noted before anything can fail: whatever comes of the set, we know its memory. */
static int memory_allocate(void **ret, uint64_t size, uint32_t flags, void *data)
{
	struct counter_set *set = data;
	int r;

	(void)flags;
	if (set->memory_count == ARRAY_SIZE(set->memory))
		return OUT_OF_RESOURCES;
	r = hsa_calls.pool_allocate(host_pool, size, EXECUTABLE_FLAG, ret);
	if (r)
		return r;
	set->memory[set->memory_count++] = *ret;
	r = hsa_calls.allow_access(1, &set->device->agent, NULL, *ret);
	if (!r)
		memset(*ret, 0, size);
	return r;
}

/* Does this thread make the set, and fail, or is the set no longer ours? */
static bool is_expected(const struct counter_set *set)
{
	int32_t listed = __atomic_load_n(&set->listed, __ATOMIC_ACQUIRE);

	return listed == LISTED_NOT || listed == (int32_t)raw0(SYS_gettid);
}

/* Frees nothing.  Threads that are in the list have to be out of it before it is gone. */
static void memory_notice(void *memory, void *data)
{
	struct patience patience = { 0, 0 };

	(void)memory;
	if (is_expected(data) || raw0(SYS_getpid) != user ||
	    __atomic_exchange_n(&is_over, 1, __ATOMIC_SEQ_CST))
		return;
	while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) &&
	       patience_pause(&patience, GLANCE_NS, LIMIT_NS))
		;
}

static int memory_copy(void *to, const void *from, size_t size, void *data)
{
	(void)data;
	memcpy(to, from, size);
	return 0;
}

static void memory_free(struct counter_set *set)
{
	while (set->memory_count)
		(void)hsa_calls.pool_free(set->memory[--set->memory_count]);
}

bool packets_make(struct counter_set *set, struct pmc_profile profile)
{
	bool is_made;

	if (!list_enter())
		return false;
	set->memory_count = 0;
	/* Before it is in the list, which may end while it is made. */
	__atomic_store_n(&set->listed, (int32_t)raw0(SYS_gettid), __ATOMIC_RELEASE);
	is_made = !library->create(&set->handle, &set->packets, profile, memory_allocate,
				   memory_notice, memory_copy, set);
	__atomic_store_n(&set->listed, is_made ? LISTED : LISTED_NOT, __ATOMIC_RELEASE);
	list_leave();
	if (!is_made)
		memory_free(set);
	return is_made;
}

static bool set_take_out(struct counter_set *set)
{
	if (!list_enter())
		return false;
	__atomic_store_n(&set->listed, LISTED_NOT, __ATOMIC_RELEASE);
	library->give_back(set->handle);
	list_leave();
	return true;
}

bool packets_give_back(struct counter_set *set)
{
	if (!set_take_out(set))
		return false;
	memory_free(set);
	return true;
}

void packets_drop(struct counter_set *set)
{
	set->memory_count = 0;
	if (library)
		(void)set_take_out(set);
}

bool packets_read(const struct counter_set *set, pmc_visit *visit, void *data)
{
	bool is_read;

	if (!list_enter())
		return false;
	is_read = !library->iterate(set->handle, visit, data);
	list_leave();
	return is_read;
}

void packets_forget_parent(void)
{
	library = NULL;
	is_over = inside = 0;
	user = 0;
}
