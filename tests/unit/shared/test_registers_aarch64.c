/*
 * How an interrupted thread goes on, on aarch64: what the kernel is told, and what the emergency
 * frame does instead.
 */
#include "unit.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "shared/arch/registers.h"

#define SVC  0xd4000001u
#define PC   0x400000u
#define ANY  0x1122334455667788u /* a first argument */
#define NONE (-1L)               /* no call was entered under our eyes */

#define RESTARTSYS    (-512L)
#define RESTARTNOINTR (-513L)
#define RESTARTNOHAND (-514L)
#define RESTART_BLOCK (-516L)

static struct arch_state state;
static struct arch_return back;

/* A thread that stands before the call instruction, or right behind it with a result. */
static void stand_before(long nr)
{
	memset(&state, 0, sizeof(state));
	state.regs.pc = PC;
	state.regs.regs[0] = ANY;
	state.regs.regs[8] = (unsigned long)nr;
	state.code[1] = SVC;
}

static void stand_behind(long nr, long result)
{
	stand_before(nr);
	state.regs.regs[0] = (unsigned long)result;
	state.code[0] = SVC;
	state.code[1] = 0;
}

static void plan(long entered_nr)
{
	static const struct blocked_call none;

	arch_plan_return(&state, &none, &none, entered_nr, &back);
}

static void assert_untouched(void)
{
	assert_false(back.was_in_call);
	assert_false(back.needs_argument);
	assert_memory_equal(&back.regs, &state.regs, sizeof(state.regs));
	assert_memory_equal(&back.rescue, &state.regs, sizeof(state.regs));
}

/* The kernel sees the call as it was when it interrupted it; the frame issues it anew. */
static void assert_restarts(long code)
{
	assert_true(back.was_in_call && back.needs_argument);
	assert_int_equal(back.nr, state.regs.regs[8]);
	assert_int_equal(back.first_argument, ANY);
	assert_int_equal(back.regs.pc, PC + 4);
	assert_int_equal((long)back.regs.regs[0], code);
	assert_int_equal(back.rescue.pc, PC);
	assert_int_equal(back.rescue.regs[0], ANY);
}

static void leaves_a_running_thread_as_it_is(void **unused)
{
	(void)unused;
	stand_before(SYS_read);
	state.code[1] = 0;
	plan(NONE);
	assert_untouched();
	stand_behind(SYS_read, 5);
	plan(NONE);
	assert_untouched();
	stand_before(SYS_getpid); /* about to make a call that does not wait */
	plan(NONE);
	assert_untouched();
	stand_before(SYS_epoll_pwait); /* this one is never wound back */
	plan(NONE);
	assert_untouched();
}

static void tells_the_kernel_why_a_call_was_wound_back(void **unused)
{
	static const struct {
		long nr, code;
	} cases[] = {
		{ SYS_read, RESTARTSYS },        { SYS_accept4, RESTARTSYS },
		{ SYS_wait4, RESTARTSYS },       { SYS_ppoll, RESTARTNOHAND },
		{ SYS_pselect6, RESTARTNOHAND }, { SYS_rt_sigsuspend, RESTARTNOHAND },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		stand_before(cases[i].nr);
		assert_false(arch_must_look_again(&state));
		plan(NONE);
		assert_restarts(cases[i].code);
	}
}

/* Registers alone do not tell a sleep from a thread that is about to sleep. */
static void looks_twice_at_sleeps(void **unused)
{
	static const struct {
		long nr;
		uint64_t second, fourth; /* arguments */
		bool has_time;
		long code; /* as measured on x86-64, but for waits with an absolute time: their
			    * restart block does what this one does */
	} cases[] = {
		{ SYS_nanosleep, 0, 0, true, RESTARTSYS },
		{ SYS_clock_nanosleep, 0, 0, true, RESTARTSYS },
		{ SYS_clock_nanosleep, 1 /* TIMER_ABSTIME */, 0, false, RESTARTNOHAND },
		{ SYS_futex, FUTEX_WAIT, 0x5000, true, RESTARTSYS },
		{ SYS_futex, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0x5000, true, RESTARTSYS },
		{ SYS_futex, FUTEX_WAIT, 0, false, RESTARTSYS },
		{ SYS_futex, FUTEX_WAIT_BITSET, 0x5000, false, RESTARTNOHAND },
		{ SYS_futex, FUTEX_WAIT_BITSET, 0, false, RESTARTSYS },
		{ SYS_futex, FUTEX_LOCK_PI_PRIVATE, 0x5000, false, RESTARTNOINTR },
		{ SYS_futex, FUTEX_WAIT_REQUEUE_PI_PRIVATE, 0x5000, false, RESTARTNOINTR },
		{ SYS_read, 0, 0x5000, false, RESTARTSYS },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		stand_before(cases[i].nr);
		state.regs.regs[1] = cases[i].second;
		state.regs.regs[3] = cases[i].fourth;
		assert_int_equal(arch_must_look_again(&state), cases[i].has_time);
		plan(NONE);
		assert_restarts(cases[i].code);
		plan(cases[i].nr);
		assert_restarts(cases[i].has_time ? RESTART_BLOCK : cases[i].code);
	}
}

static void goes_on_with_a_sleep_that_was_interrupted_before(void **unused)
{
	(void)unused;
	stand_before(SYS_restart_syscall);
	assert_false(arch_must_look_again(&state));
	plan(NONE);
	assert_true(back.was_in_call);
	assert_int_equal((long)back.regs.regs[0], RESTART_BLOCK);
	/* The frame cannot restart what it does not know. */
	assert_int_equal(back.rescue.pc, PC + 4);
	assert_int_equal((long)back.rescue.regs[0], -EINTR);
	plan(SYS_nanosleep);
	assert_restarts(RESTART_BLOCK);
	assert_int_equal(back.rescue.regs[8], SYS_nanosleep);
	assert_int_equal(back.regs.regs[8], SYS_restart_syscall);
}

static void asks_for_the_argument_of_a_call_cut_short(void **unused)
{
	static const long asks[] = { SYS_epoll_pwait, SYS_rt_sigtimedwait, SYS_semop, SYS_read,
				     SYS_ppoll };

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(asks); i++) {
		stand_behind(asks[i], -EINTR);
		assert_true(arch_must_ask_argument(&state));
		stand_behind(asks[i], -EAGAIN);
		assert_false(arch_must_ask_argument(&state));
		stand_behind(asks[i], -EINTR);
		state.code[0] = 0;
		assert_false(arch_must_ask_argument(&state));
	}
	stand_behind(SYS_close, -EINTR);
	assert_false(arch_must_ask_argument(&state));
	stand_behind(SYS_nanosleep, -EINTR);
	assert_false(arch_must_ask_argument(&state));
}

/* What /proc said just before the stop of the thread that stands there now. */
static struct blocked_call see(uint64_t ip)
{
	struct blocked_call seen = { .is_known = true,
				     .nr = (long)state.regs.regs[8],
				     .args = { ANY },
				     .stack = state.regs.sp,
				     .ip = ip };

	memcpy(&seen.args[1], &state.regs.regs[1], 5 * sizeof(uint64_t));
	return seen;
}

static void issues_a_call_again_that_was_cut_short(void **unused)
{
	struct blocked_call seen, cut = { .is_known = true, .args = { ANY, 2, 3, 4 } };

	(void)unused;
	stand_behind(SYS_epoll_pwait, -EINTR);
	state.regs.pc = PC + 4;
	seen = see(PC + 4);
	arch_plan_return(&state, &seen, &cut, NONE, &back);
	assert_restarts(RESTARTNOHAND);
}

/* Another call than the one it was seen in: the EINTR is the program's own. */
static void leaves_an_interruption_that_was_not_ours(void **unused)
{
	struct blocked_call cut = { .is_known = true, .args = { ANY } }, seen[7];

	(void)unused;
	stand_behind(SYS_epoll_pwait, -EINTR);
	state.regs.pc = PC + 4;
	for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
		seen[i] = see(PC + 4);
	seen[0].is_known = false;
	seen[1].nr++;
	seen[2].args[0]++;
	seen[3].args[1]++;
	seen[4].args[5]++;
	seen[5].stack++;
	seen[6].ip++;
	for (size_t i = 0; i < ARRAY_SIZE(seen); i++) {
		arch_plan_return(&state, &seen[i], &cut, NONE, &back);
		assert_untouched();
	}
}

static void goes_on_with_an_unknown_call_it_was_seen_in(void **unused)
{
	static const struct blocked_call none;
	struct blocked_call seen;

	(void)unused;
	stand_before(SYS_getpid);
	seen = see(PC + 4);
	arch_plan_return(&state, &seen, &none, NONE, &back);
	assert_restarts(RESTARTSYS);
	seen.ip = PC;
	arch_plan_return(&state, &seen, &none, NONE, &back);
	assert_untouched();
}

static void puts_arguments_where_the_kernel_looks(void **unused)
{
	const struct arch_escape escape = { .frame = 0x7000, .landing = 0x8000 };
	struct user_regs_struct regs = { .pstate = 3ull << 10 };
	uint64_t args[6];

	(void)unused;
	arch_clone_args(args, 1, 2, 3, 4);
	assert_memory_equal(args, ((uint64_t[6]){ 1, 2, 4, 3, 4, 0 }), sizeof(args));
	arch_set_syscall(&regs, 0x9000, SYS_clone, args, &escape);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(regs.regs[i], args[i]);
	assert_int_equal(arch_syscall_number(&regs), SYS_clone);
	assert_int_equal(regs.regs[30], 0x8000);
	assert_int_equal(regs.pstate, 0);
	arch_set_call(&regs, 0xa000, 42, &escape);
	assert_int_equal(regs.regs[0], 42);
	assert_int_equal(arch_syscall_result(&regs), 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_a_running_thread_as_it_is),
		cmocka_unit_test(tells_the_kernel_why_a_call_was_wound_back),
		cmocka_unit_test(looks_twice_at_sleeps),
		cmocka_unit_test(goes_on_with_a_sleep_that_was_interrupted_before),
		cmocka_unit_test(asks_for_the_argument_of_a_call_cut_short),
		cmocka_unit_test(issues_a_call_again_that_was_cut_short),
		cmocka_unit_test(leaves_an_interruption_that_was_not_ours),
		cmocka_unit_test(goes_on_with_an_unknown_call_it_was_seen_in),
		cmocka_unit_test(puts_arguments_where_the_kernel_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
