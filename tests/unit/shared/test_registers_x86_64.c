/*
 * How an interrupted thread goes on, on x86-64: what the kernel is told, and what the emergency
 * frame does instead.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "shared/arch/registers.h"

#define RIP            0x400002u
#define SYSCALL_LENGTH 2

static struct arch_state state;
static struct arch_return back;

static void stand(long nr, long result)
{
	static const struct blocked_call none;

	memset(&state, 0, sizeof(state));
	state.regs.rip = RIP;
	state.regs.rdi = 7;
	state.regs.orig_rax = (unsigned long)nr;
	state.regs.rax = (unsigned long)result;
	arch_plan_return(&state, &none, &none, -1, &back);
}

/* Nothing may be restarted: the kernel must not take rax for a code of its own. */
static void assert_not_in_call(void)
{
	assert_false(back.was_in_call);
	assert_int_equal((long)back.regs.orig_rax, -1);
	assert_int_equal((long)back.rescue.orig_rax, -1);
	assert_int_equal(back.regs.rip, RIP);
	assert_int_equal(back.rescue.rip, RIP);
	assert_int_equal(back.regs.rax, state.regs.rax);
	assert_int_equal(back.rescue.rax, state.regs.rax);
}

/* The kernel restarts it; the frame issues it anew. */
static void assert_restarts(long nr, long code)
{
	assert_true(back.was_in_call);
	assert_int_equal(back.nr, nr);
	assert_int_equal((long)back.regs.orig_rax, nr);
	assert_int_equal((long)back.regs.rax, code);
	assert_int_equal(back.regs.rip, RIP);
	assert_int_equal((long)back.rescue.rax, nr);
	assert_int_equal((long)back.rescue.orig_rax, -1);
	assert_int_equal(back.rescue.rip, RIP - SYSCALL_LENGTH);
	assert_int_equal(back.rescue.rdi, 7);
}

static void leaves_a_running_thread_as_it_is(void **unused)
{
	(void)unused;
	stand(-1, 5);
	assert_not_in_call();
	stand(-1, -512); /* a number of the program's own that looks like a code */
	assert_not_in_call();
	stand(SYS_read, 5);
	assert_not_in_call();
	stand(SYS_read, -EAGAIN);
	assert_not_in_call();
}

static void keeps_the_codes_of_the_kernel(void **unused)
{
	static const long codes[] = { -512, -513, -514, -516 };

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		stand(SYS_read, codes[i]);
		assert_restarts(SYS_read, codes[i]);
		stand(SYS_nanosleep, codes[i]);
		assert_restarts(SYS_nanosleep, codes[i]);
		stand(SYS_getpid, codes[i]);
		assert_restarts(SYS_getpid, codes[i]);
	}
	stand(SYS_read, -515);
	assert_not_in_call();
}

static void ends_a_sleep_whose_number_is_lost(void **unused)
{
	(void)unused;
	stand(SYS_restart_syscall, -516);
	assert_true(back.was_in_call);
	assert_int_equal((long)back.regs.rax, -516);
	assert_int_equal((long)back.regs.orig_rax, SYS_restart_syscall);
	assert_int_equal((long)back.rescue.rax, -EINTR);
	assert_int_equal(back.rescue.rip, RIP);
	assert_int_equal((long)back.rescue.orig_rax, -1);
}

static void issues_a_call_again_that_was_cut_short(void **unused)
{
	static const long calls[] = { SYS_epoll_wait,      SYS_epoll_pwait, SYS_semop,
				      SYS_rt_sigtimedwait, SYS_read,        SYS_ppoll };

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		stand(calls[i], -EINTR);
		assert_restarts(calls[i], -514);
	}
	stand(SYS_close, -EINTR); /* closed all the same */
	assert_not_in_call();
	stand(SYS_nanosleep, -EINTR); /* would sleep too long */
	assert_not_in_call();
}

static void puts_arguments_where_the_kernel_looks(void **unused)
{
	const struct arch_escape escape = { .frame = 0x7000, .landing = 0x8000 };
	struct user_regs_struct regs = { .eflags = 0x746 };
	uint64_t args[6];

	(void)unused;
	arch_clone_args(args, 1, 2, 3, 4);
	assert_memory_equal(args, ((uint64_t[6]){ 1, 2, 4, 4, 3, 0 }), sizeof(args));
	arch_set_syscall(&regs, 0x9000, SYS_clone, args, &escape);
	assert_true(regs.rdi == args[0] && regs.rsi == args[1] && regs.rdx == args[2]);
	assert_true(regs.r10 == args[3] && regs.r8 == args[4] && regs.r9 == args[5]);
	assert_int_equal(regs.rax, SYS_clone);
	assert_int_equal((long)regs.orig_rax, -1);
	assert_int_equal(regs.eflags, 0x246); /* no trap, strings go upwards */
	arch_set_call(&regs, 0xa000, 42, &escape);
	assert_int_equal(regs.rdi, 42);
	assert_int_equal(regs.rax, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_a_running_thread_as_it_is),
		cmocka_unit_test(keeps_the_codes_of_the_kernel),
		cmocka_unit_test(ends_a_sleep_whose_number_is_lost),
		cmocka_unit_test(issues_a_call_again_that_was_cut_short),
		cmocka_unit_test(puts_arguments_where_the_kernel_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
