/*
 * A hash table by tid. An entry whose thread has ended is reused when its slot is needed.
 */
#include "target/amd/tables/call.h"

#include "shared/arch/syscall.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PROBES_MAX  32u
#define GLANCE_NS   1000000
#define STACK_REACH 0x800000u
#define FRAME_REACH 0x10000u

struct call_threads *call_threads;
int64_t call_thread_distance;
static int64_t known_distance;
static bool is_asking;

static void distance_use(void)
{
	__atomic_store_n(&call_thread_distance, is_asking ? 0 : known_distance, __ATOMIC_RELAXED);
}

void call_threads_ask(bool asks)
{
	is_asking = asks;
	distance_use();
}

bool call_threads_open(const struct boot_libc *libc)
{
	long r;

	known_distance = libc->thread_number;
	distance_use();
	if (!call_threads) {
		r = raw6(SYS_mmap, 0, sizeof(*call_threads), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (r < 0 && r > -4096)
			return false;
		raw3(SYS_madvise, r, sizeof(*call_threads), MADV_WIPEONFORK);
		__atomic_store_n(&call_threads, (struct call_threads *)r, __ATOMIC_RELEASE);
	}
	call_threads->is_own = 1;
	return true;
}

void call_threads_close(void)
{
	struct call_threads *memory = call_threads;

	__atomic_store_n(&call_threads, NULL, __ATOMIC_RELEASE);
	if (memory)
		raw2(SYS_munmap, memory, sizeof(*memory));
}

int32_t call_thread_number(void)
{
	int64_t distance = __atomic_load_n(&call_thread_distance, __ATOMIC_RELAXED);

	return distance ? *(const int32_t *)(thread_pointer() + distance)
			: (int32_t)raw0(SYS_gettid);
}

bool call_thread_is_gone(int32_t number)
{
	return raw3(SYS_tgkill, raw0(SYS_getpid), number, 0) == -ESRCH;
}

static bool thread_claim(struct call_thread *thread, int32_t from, int32_t number)
{
	if (!__atomic_compare_exchange_n(&thread->number, &from, number, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	thread->depth = 0;
	thread->range_depth = 0;
	thread->guard_count = 0;
	thread->tools_inside = 0;
	thread->hip_inside = 0;
	thread->pointer = (uint64_t)thread_pointer();
	return true;
}

/* Claims a free entry, else the entry of a thread that has ended. */
static struct call_thread *thread_add(int32_t number)
{
	for (unsigned i = 0; i < PROBES_MAX; i++)
		if (thread_claim(call_thread_at(number, i), 0, number))
			return call_thread_at(number, i);
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		struct call_thread *thread = call_thread_at(number, i);
		int32_t old = __atomic_load_n(&thread->number, __ATOMIC_RELAXED);

		if (call_thread_is_gone(old) && thread_claim(thread, old, number))
			return thread;
	}
	return NULL;
}

struct call_thread *call_thread_find(void)
{
	int32_t number = call_thread_number();

	if (!call_threads || !call_threads->is_own)
		return NULL;
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		struct call_thread *thread = call_thread_at(number, i);
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
bool call_frame_was_left(uint64_t left, uint64_t frame)
{
	return frame - left < STACK_REACH;
}

/* The stack grows down: frames that are not above were left. A thread on a separate signal stack
 * may be judged so, too; then calls that it interrupted miss their descendants this once. */
void call_thread_prune(struct call_thread *thread, uint64_t frame)
{
	uint32_t depth = MIN(thread->depth, THREAD_CALLS_MAX);

	while (depth && thread->calls[depth - 1].frame <= frame)
		depth--;
	thread->depth = depth;
	if (thread->tools_inside && call_frame_was_left(thread->inside_frame, frame))
		__atomic_store_n(&thread->tools_inside, 0, __ATOMIC_RELEASE);
}

const struct thread_call *call_thread_around(const struct call_thread *thread, uint64_t address)
{
	uint32_t depth = MIN(thread->depth, THREAD_CALLS_MAX);

	while (depth && thread->calls[depth - 1].frame <= address)
		depth--;
	return depth ? &thread->calls[depth - 1] : NULL;
}

/* A frame further up may be on another stack, which may be unmapped. One that was left is
 * overwritten once the thread has called as deep again. */
struct call_frame *call_thread_frame(const struct thread_call *call, uint64_t address)
{
	struct call_frame *frame = (struct call_frame *)call->frame;

	if (call->frame - address > FRAME_REACH || frame->begin != call->begin ||
	    (!frame->begin && frame->internal != call->internal))
		return NULL;
	return frame;
}

/* Sequentially consistent: pairs with context_change(). Either detaching sees the thread here, or
 * the thread sees that the tool's contexts have stopped. */
uint64_t call_thread_enter_tool(struct call_thread *thread, unsigned tool)
{
	uint64_t before = thread->tools_inside;

	if (!before)
		thread->inside_frame = (uint64_t)__builtin_frame_address(0);
	__atomic_exchange_n(&thread->tools_inside, before | 1ull << tool, __ATOMIC_SEQ_CST);
	return before;
}

void call_thread_leave_tool(struct call_thread *thread, uint64_t before)
{
	__atomic_store_n(&thread->tools_inside, before, __ATOMIC_RELEASE);
}

static unsigned threads_inside(unsigned tool)
{
	int32_t self = call_thread_number();
	unsigned count = 0;

	for (unsigned i = 0; call_threads && i < THREADS_MAX; i++) {
		int32_t number = __atomic_load_n(&call_threads->list[i].number, __ATOMIC_ACQUIRE);
		uint64_t inside =
			__atomic_load_n(&call_threads->list[i].tools_inside, __ATOMIC_SEQ_CST);

		if (number && number != self && inside & 1ull << tool &&
		    !call_thread_is_gone(number))
			count++;
	}
	return count;
}

unsigned call_threads_await(unsigned tool, uint64_t limit_ns)
{
	struct timespec pause = { 0, GLANCE_NS };
	unsigned inside = threads_inside(tool);

	for (uint64_t waited = 0; inside && waited < limit_ns; waited += GLANCE_NS) {
		raw2(SYS_nanosleep, &pause, 0);
		inside = threads_inside(tool);
	}
	return inside;
}

bool call_threads_in_hip(void)
{
	uint32_t inside = 0;

	for (unsigned i = 0; call_threads && i < THREADS_MAX; i++)
		inside |= __atomic_load_n(&call_threads->list[i].hip_inside, __ATOMIC_ACQUIRE);
	return inside;
}

void call_threads_adopt(void)
{
	if (call_threads)
		memset(call_threads, 0, sizeof(*call_threads));
}
