/*
 * Runs on limpet's threads, one at a time. packet_set_read() also runs on the runtime's threads,
 * packet_set_drop() and memory_notice() also on the application's.
 */
#include "target/amd/counters/packet_sets.h"

#include "shared/arch/syscall.h"
#include "target/runtime/patience.h"

#include <string.h>

#define EXECUTABLE_FLAG  4u
#define OUT_OF_RESOURCES 0x1008
#define GLANCE_NS        100000
#define LIMIT_NS         1000000000ull /* limits how long exit() waits */

static const struct aqlprofile *library;
static struct packet_memory calls;
static uint32_t is_over, inside; /* aqlprofile's list has ended; threads in it */
static uint32_t were_made;       /* any set, by this library */
static int32_t user;             /* the process that has called packet_sets_use() */

void packet_sets_use(const struct aqlprofile *found, const struct packet_memory *memory)
{
	library = found;
	calls = *memory;
	user = (int32_t)raw0(SYS_getpid);
}

bool packet_sets_were_made(void)
{
	return __atomic_load_n(&were_made, __ATOMIC_ACQUIRE);
}

/* Sequentially consistent: pairs with packet_sets_end(); each side stores before it reads. */
void packet_sets_leave(void)
{
	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

/* False: aqlprofile's list is ending, or has ended. */
bool packet_sets_enter(void)
{
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&is_over, __ATOMIC_SEQ_CST))
		return true;
	packet_sets_leave();
	return false;
}

void packet_sets_end(void)
{
	struct patience patience = { 0, 0 };

	if (__atomic_exchange_n(&is_over, 1, __ATOMIC_SEQ_CST))
		return;
	while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) &&
	       patience_pause(&patience, GLANCE_NS, LIMIT_NS))
		;
}

/* Notes the memory before a later step can fail, so that the set can always free it. */
static int memory_allocate(void **ret, uint64_t size, uint32_t flags, void *data)
{
	struct packet_set *set = data;
	int r;

	(void)flags;
	if (set->memory_count == ARRAY_SIZE(set->memory))
		return OUT_OF_RESOURCES;
	r = calls.allocate(calls.pool, size, EXECUTABLE_FLAG, ret);
	if (r)
		return r;
	set->memory[set->memory_count++] = *ret;
	r = calls.allow_access(1, &set->agent, NULL, *ret);
	if (!r)
		memset(*ret, 0, size);
	return r;
}

/* True if this thread creates the set and fails, or the set is not in aqlprofile's list. */
static bool is_expected(const struct packet_set *set)
{
	int32_t listed = __atomic_load_n(&set->listed, __ATOMIC_ACQUIRE);

	return listed == LISTED_NOT || listed == (int32_t)raw0(SYS_gettid);
}

/* Frees nothing. Called unexpectedly when exit() ends the list: waits for threads in the list. */
static void memory_notice(void *memory, void *data)
{
	(void)memory;
	if (!is_expected(data) && raw0(SYS_getpid) == user)
		packet_sets_end();
}

static int memory_copy(void *to, const void *from, size_t size, void *data)
{
	(void)data;
	memcpy(to, from, size);
	return 0;
}

static void memory_free(struct packet_set *set)
{
	while (set->memory_count)
		(void)calls.free(set->memory[--set->memory_count]);
}

bool packet_set_make(struct packet_set *set, struct pmc_profile profile)
{
	bool is_made;

	if (!packet_sets_enter())
		return false;
	set->memory_count = 0;
	__atomic_store_n(&were_made, 1, __ATOMIC_RELEASE);
	/* Set before aqlprofile lists the set: the list may end while the set is created. */
	__atomic_store_n(&set->listed, (int32_t)raw0(SYS_gettid), __ATOMIC_RELEASE);
	is_made = !library->create(&set->handle, &set->packets, profile, memory_allocate,
				   memory_notice, memory_copy, set);
	__atomic_store_n(&set->listed, is_made ? LISTED : LISTED_NOT, __ATOMIC_RELEASE);
	packet_sets_leave();
	if (!is_made)
		memory_free(set);
	return is_made;
}

static bool set_take_out(struct packet_set *set)
{
	if (!packet_sets_enter())
		return false;
	__atomic_store_n(&set->listed, LISTED_NOT, __ATOMIC_RELEASE);
	library->give_back(set->handle);
	packet_sets_leave();
	return true;
}

bool packet_set_give_back(struct packet_set *set)
{
	if (!set_take_out(set))
		return false;
	memory_free(set);
	return true;
}

void packet_set_drop(struct packet_set *set)
{
	set->memory_count = 0;
	if (library)
		(void)set_take_out(set);
}

bool packet_set_read(const struct packet_set *set, pmc_visit *visit, void *data)
{
	bool is_read;

	if (!packet_sets_enter())
		return false;
	is_read = !library->iterate(set->handle, visit, data);
	packet_sets_leave();
	return is_read;
}

void packet_sets_forget_parent(void)
{
	library = NULL;
	is_over = inside = 0;
	user = 0;
}
