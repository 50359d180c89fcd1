/*
 * Sequentially consistent throughout: each side says what it does before it looks at the other.
 */
#include "target/runtime/fork_turn.h"

#include "shared/arch/syscall.h"

#include <sys/mman.h>
#include <time.h>

#define GLANCE_NS  20000
#define FORK_WAITS 10000 /* glances: 0.7 s with the kernel's slack */
#define WORK_WAITS 50000
#define SETTLE_NS  200000
#define PAGES      65536 /* bytes: one page or more, whatever they are */

static uint32_t turn_load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void turn_pause(void)
{
	struct timespec pause = { 0, GLANCE_NS };

	raw2(SYS_nanosleep, &pause, 0);
}

/* From its handlers to the kernel a fork has some microseconds to go.  There it copies our memory
 * under a lock which whoever maps something waits for. */
void fork_turn_settle(void)
{
	struct timespec pause = { 0, SETTLE_NS };
	long memory;

	raw2(SYS_nanosleep, &pause, 0);
	memory = raw6(SYS_mmap, 0, PAGES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory >= 0 || memory <= -4096)
		raw2(SYS_munmap, memory, PAGES);
}

void fork_turn_work_begin(struct fork_turn *self)
{
	self->worker = (int32_t)raw0(SYS_getpid);
	for (unsigned i = 0; i < WORK_WAITS; i++) {
		__atomic_add_fetch(&self->working, 1, __ATOMIC_SEQ_CST);
		if (!turn_load(&self->forking))
			return;
		__atomic_sub_fetch(&self->working, 1, __ATOMIC_SEQ_CST);
		turn_pause();
	}
	__atomic_add_fetch(&self->working, 1, __ATOMIC_SEQ_CST);
}

void fork_turn_work_end(struct fork_turn *self)
{
	__atomic_sub_fetch(&self->working, 1, __ATOMIC_SEQ_CST);
}

void fork_turn_fork_begin(struct fork_turn *self)
{
	__atomic_add_fetch(&self->forking, 1, __ATOMIC_SEQ_CST);
}

/* A child that libc knows not of has nobody who works, whatever the memory says. */
void fork_turn_await(const struct fork_turn *self)
{
	if (turn_load(&self->working) && raw0(SYS_getpid) != self->worker)
		return;
	for (unsigned i = 0; turn_load(&self->working) && i < FORK_WAITS; i++)
		turn_pause();
}

void fork_turn_fork_end(struct fork_turn *self)
{
	__atomic_sub_fetch(&self->forking, 1, __ATOMIC_SEQ_CST);
}

void fork_turn_forget(struct fork_turn *self)
{
	*self = (struct fork_turn){ 0, 0, 0 };
}
