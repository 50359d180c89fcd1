/*
 * A hash table by tid. An entry whose thread has ended is reused when its slot is needed.
 */
#include "target/amd/tables/threads.h"

#include "shared/arch/syscall.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PROBES_MAX  32u
#define GLANCE_NS   1000000
#define STACK_REACH 0x800000u

struct sdk_threads *sdk_threads;
int64_t sdk_thread_distance;

bool sdk_threads_open(const struct boot_libc *libc)
{
	long r;

	__atomic_store_n(&sdk_thread_distance, libc->thread_number, __ATOMIC_RELAXED);
	if (!sdk_threads) {
		r = raw6(SYS_mmap, 0, sizeof(*sdk_threads), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (r < 0 && r > -4096)
			return false;
		raw3(SYS_madvise, r, sizeof(*sdk_threads), MADV_WIPEONFORK);
		__atomic_store_n(&sdk_threads, (struct sdk_threads *)r, __ATOMIC_RELEASE);
	}
	sdk_threads->is_own = 1;
	return true;
}

void sdk_threads_close(void)
{
	struct sdk_threads *memory = sdk_threads;

	__atomic_store_n(&sdk_threads, NULL, __ATOMIC_RELEASE);
	if (memory)
		raw2(SYS_munmap, memory, sizeof(*memory));
}

int32_t sdk_thread_number(void)
{
	int64_t distance = __atomic_load_n(&sdk_thread_distance, __ATOMIC_RELAXED);

	return distance ? *(const int32_t *)(thread_pointer() + distance)
			: (int32_t)raw0(SYS_gettid);
}

bool sdk_thread_is_gone(int32_t number)
{
	return raw3(SYS_tgkill, raw0(SYS_getpid), number, 0) == -ESRCH;
}

static bool thread_claim(struct sdk_thread *thread, int32_t from, int32_t number)
{
	if (!__atomic_compare_exchange_n(&thread->number, &from, number, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	thread->depth = 0;
	thread->range_depth = 0;
	thread->guard_count = 0;
	thread->tools_inside = 0;
	thread->pointer = (uint64_t)thread_pointer();
	return true;
}

/* Claims a free entry, else the entry of a thread that has ended. */
static struct sdk_thread *thread_add(int32_t number)
{
	for (unsigned i = 0; i < PROBES_MAX; i++)
		if (thread_claim(sdk_thread_at(number, i), 0, number))
			return sdk_thread_at(number, i);
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		struct sdk_thread *thread = sdk_thread_at(number, i);
		int32_t old = __atomic_load_n(&thread->number, __ATOMIC_RELAXED);

		if (sdk_thread_is_gone(old) && thread_claim(thread, old, number))
			return thread;
	}
	return NULL;
}

struct sdk_thread *sdk_thread_find(void)
{
	int32_t number = sdk_thread_number();

	if (!sdk_threads || !sdk_threads->is_own)
		return NULL;
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		struct sdk_thread *thread = sdk_thread_at(number, i);
		int32_t there = __atomic_load_n(&thread->number, __ATOMIC_RELAXED);

		if (!there)
			break;
		if (there != number)
			continue;
		if (thread->pointer != (uint64_t)thread_pointer())
			thread_claim(thread, number, number);
		return thread;
	}
	return thread_add(number);
}

/* A frame further away is most likely on another stack, and the tool still runs. */
bool sdk_frame_was_left(uint64_t left, uint64_t frame)
{
	return frame - left < STACK_REACH;
}

/* The stack grows down: frames that are not above were left. A thread on a separate signal stack
 * may be judged so, too; then calls that it interrupted miss their descendants this once. */
void sdk_thread_prune(struct sdk_thread *thread, uint64_t frame)
{
	uint32_t depth = MIN(thread->depth, THREAD_CALLS_MAX);

	while (depth && thread->calls[depth - 1].frame <= frame)
		depth--;
	thread->depth = depth;
	if (thread->tools_inside && sdk_frame_was_left(thread->inside_frame, frame))
		__atomic_store_n(&thread->tools_inside, 0, __ATOMIC_RELEASE);
}

uint64_t sdk_thread_current(const struct sdk_thread *thread, uint64_t frame)
{
	uint32_t depth = MIN(thread->depth, THREAD_CALLS_MAX);

	while (depth && thread->calls[depth - 1].frame <= frame)
		depth--;
	return depth ? thread->calls[depth - 1].correlation : 0;
}

struct sdk_frame *sdk_thread_frame(const struct sdk_thread *thread, uint64_t frame)
{
	uint32_t depth = MIN(thread->depth, THREAD_CALLS_MAX);

	while (depth && thread->calls[depth - 1].frame <= frame)
		depth--;
	return depth ? (struct sdk_frame *)thread->calls[depth - 1].frame : NULL;
}

/* Sequentially consistent: pairs with context_change(). Either detaching sees the thread here, or
 * the thread sees that the tool's contexts have stopped. */
uint64_t sdk_thread_enter_tool(struct sdk_thread *thread, unsigned tool)
{
	uint64_t before = thread->tools_inside;

	if (!before)
		thread->inside_frame = (uint64_t)__builtin_frame_address(0);
	__atomic_exchange_n(&thread->tools_inside, before | 1ull << tool, __ATOMIC_SEQ_CST);
	return before;
}

void sdk_thread_leave_tool(struct sdk_thread *thread, uint64_t before)
{
	__atomic_store_n(&thread->tools_inside, before, __ATOMIC_RELEASE);
}

static unsigned threads_inside(unsigned tool)
{
	int32_t self = sdk_thread_number();
	unsigned count = 0;

	for (unsigned i = 0; sdk_threads && i < THREADS_MAX; i++) {
		int32_t number = __atomic_load_n(&sdk_threads->list[i].number, __ATOMIC_ACQUIRE);
		uint64_t inside =
			__atomic_load_n(&sdk_threads->list[i].tools_inside, __ATOMIC_SEQ_CST);

		if (number && number != self && inside & 1ull << tool &&
		    !sdk_thread_is_gone(number))
			count++;
	}
	return count;
}

unsigned sdk_threads_await(unsigned tool, uint64_t limit_ns)
{
	struct timespec pause = { 0, GLANCE_NS };
	unsigned inside = threads_inside(tool);

	for (uint64_t waited = 0; inside && waited < limit_ns; waited += GLANCE_NS) {
		raw2(SYS_nanosleep, &pause, 0);
		inside = threads_inside(tool);
	}
	return inside;
}

void sdk_threads_adopt(void)
{
	if (sdk_threads)
		memset(sdk_threads, 0, sizeof(*sdk_threads));
}
