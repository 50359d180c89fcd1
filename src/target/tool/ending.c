/*
 * Runs on limpet's threads, and on the thread in exit(), which waits, up to a limit, for threads
 * that are inside a runtime.
 */
#include "target/tool/ending.h"

#include "shared/arch/syscall.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/libc_calls.h"

#define GLANCE_NS 100000
#define LIMIT_NS  1000000000ull
#define GLANCES   10000u

static char dso_handle; /* its address identifies limpet's handler for libc */
static int32_t user;    /* the process whose exit counts, not its child's; 0: none */
static long renewing;   /* the thread that unregisters the handler */
static uint32_t is_ending, inside;
static void (*call_first)(void), (*call_last)(void); /* may be NULL */

void ending_use(void (*first)(void), void (*last)(void))
{
	call_first = first;
	call_last = last;
}

/* The loader runs library destructors after libc's list of handlers. If the library is unloaded
 * instead, `user` is 0 (ending_forget()). */
__attribute__((destructor)) static void on_last_of_program(void)
{
	if (call_last && raw0(SYS_getpid) == user)
		call_last();
}

/* Seq_cst: each side stores its own state before it reads the other's. */
static void on_exit_of_program(void *unused)
{
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
		sleep_ns(GLANCE_NS);
}

/* libc calls each handler once and drops it, for __cxa_finalize or for exit(). If __cxa_finalize
 * does not call it, a thread in exit() has it, and must find `user` set. */
void ending_forget(void)
{
	if (!user)
		return;
	renewing = raw0(SYS_gettid);
	libc_finalize(&dso_handle);
	renewing = 0;
}

/* Set before libc has the handler: exit() may call it at once. */
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
