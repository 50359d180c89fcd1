/*
 * Runs on threads of ours, and on the one that called exit(), which waits for those that are in a
 * runtime, for a limited time.
 */
#include "target/tool/ending.h"

#include "shared/arch/syscall.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/libc_calls.h"

#define GLANCE_NS 100000
#define LIMIT_NS  1000000000ull
#define GLANCES   10000u

static char dso_handle; /* by its address libc knows our entry */
static int32_t user;    /* the process whose exit is meant, not its child's; 0: none */
static long renewing;   /* the thread that takes our entry back */
static uint32_t is_ending, inside;
static void (*call_first)(void), (*call_last)(void); /* NULL: nothing */

void ending_use(void (*leave)(void), void (*give_up)(void))
{
	call_first = leave;
	call_last = give_up;
}

/* The loader comes to libraries after libc's list.  Where the library is closed instead, nothing is
 * meant any more (ending_forget()). */
__attribute__((destructor)) static void on_last_of_program(void)
{
	if (call_last && raw0(SYS_getpid) == user)
		call_last();
}

/* Sequentially consistent: each side says what it does before it looks at the other. */
static void on_exit_of_program(void *unused)
{
	struct timespec glance = { 0, GLANCE_NS };
	uint64_t end_ns;

	(void)unused;
	if (raw0(SYS_gettid) == renewing) {
		user = 0;
		return;
	}
	if (raw0(SYS_getpid) != user)
		return;
	if (call_first)
		call_first();
	end_ns = monotonic_ns() + LIMIT_NS;
	__atomic_store_n(&is_ending, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0;
	     i < GLANCES && __atomic_load_n(&inside, __ATOMIC_SEQ_CST) && monotonic_ns() < end_ns;
	     i++)
		raw2(SYS_nanosleep, &glance, 0);
}

/* libc calls each entry once and drops it, for us or for exit().  When it does not come to us, a
 * thread that ends the program has it, and must find whom it is meant for. */
void ending_forget(void)
{
	if (!user)
		return;
	renewing = raw0(SYS_gettid);
	libc_finalize(&dso_handle);
	renewing = 0;
}

/* Known before libc knows it: exit() may call it at once. */
void ending_watch(void)
{
	ending_forget();
	if (user)
		return;
	user = (int32_t)raw0(SYS_getpid);
	if (libc_at_exit(on_exit_of_program, NULL, &dso_handle))
		user = 0;
}

void ending_adopt(void)
{
	is_ending = inside = 0;
	user = 0;
}

bool ending_enter(void)
{
	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&is_ending, __ATOMIC_SEQ_CST))
		return true;
	ending_leave();
	return false;
}

void ending_leave(void)
{
	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}
