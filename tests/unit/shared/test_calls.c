/*
 * The table of system calls: each call once, and the kinds that a mistake would make visible to the
 * application.  The table is private, so its source is part of this test.
 */
#include "unit.h"

#include "shared/arch/calls.c"

static void has_no_call_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		for (size_t j = i + 1; j < ARRAY_SIZE(lines); j++)
			assert_int_not_equal(lines[i].nr, lines[j].nr);
}

static void answers_what_the_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_int_equal(syscall_kind(lines[i].nr), lines[i].kind);
		assert_int_not_equal(lines[i].kind, CALL_OTHER);
	}
}

/* signal(7): never restarted, whatever the handler's flags; a stop alone ends them with EINTR. */
static void knows_the_calls_that_a_stop_cuts_short(void **state)
{
	static const int calls[] = { SYS_epoll_pwait, SYS_epoll_pwait2,    SYS_semop,
				     SYS_semtimedop,  SYS_rt_sigtimedwait, SYS_io_getevents };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_int_equal(syscall_kind(calls[i]), CALL_EINTR);
#ifdef SYS_epoll_wait
	assert_int_equal(syscall_kind(SYS_epoll_wait), CALL_EINTR);
#endif
}

/* sock_intr_errno() of the kernel: -EINTR where the socket has SO_RCVTIMEO or SO_SNDTIMEO. */
static void knows_the_calls_that_a_stop_cuts_short_on_sockets_with_a_time_limit(void **state)
{
	static const int calls[] = { SYS_read,     SYS_readv,    SYS_preadv2, SYS_recvfrom,
				     SYS_recvmsg,  SYS_recvmmsg, SYS_write,   SYS_writev,
				     SYS_pwritev2, SYS_sendto,   SYS_sendmsg, SYS_sendmmsg,
				     SYS_sendfile, SYS_splice,   SYS_accept,  SYS_accept4,
				     SYS_connect };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_int_equal(syscall_kind(calls[i]), CALL_RESTARTS);
}

/* The kernel's do_recvmmsg() keeps the error that ends it, where it has messages. */
static void knows_what_leaves_an_error_on_a_socket(void **state)
{
	static const struct {
		bool spoils;
		struct blocked_call call;
	} cases[] = {
		{ true, { true, SYS_recvmmsg, { 3, 4096, 2, 0, 0 }, 0, 0 } },
		{ true, { true, SYS_recvmmsg, { 3, 4096, 8, MSG_TRUNC, 4096 }, 0, 0 } },
		{ false, { true, SYS_recvmmsg, { 3, 4096, 8, MSG_WAITFORONE, 0 }, 0, 0 } },
		{ false, { true, SYS_recvmmsg, { 3, 4096, 1, 0, 0 }, 0, 0 } },
		{ false, { true, SYS_sendmmsg, { 3, 4096, 8, 0 }, 0, 0 } },
		{ false, { true, SYS_recvmsg, { 3, 4096, 8, 0 }, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(call_spoils_socket(&cases[i].call), cases[i].spoils);
}

static void leaves_threads_alone_that_change_the_process(void **state)
{
	static const int calls[] = { SYS_execve, SYS_execveat,     SYS_clone,     SYS_clone3,
				     SYS_exit,   SYS_rt_sigreturn, SYS_exit_group };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_int_equal(syscall_kind(calls[i]), CALL_NEVER);
#ifdef SYS_vfork
	assert_int_equal(syscall_kind(SYS_vfork), CALL_NEVER);
	assert_int_equal(syscall_kind(SYS_fork), CALL_NEVER);
#endif
}

static void does_not_know_others(void **state)
{
	static const long calls[] = { -1, -512, 100000, SYS_getpid, SYS_close };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_int_equal(syscall_kind(calls[i]), CALL_OTHER);
}

/* kernel/time, kernel/futex and fs/select.c return ERESTART_RESTARTBLOCK from these. */
static void knows_what_restart_syscall_resumes(void **state)
{
	static const struct {
		bool has_restart_block;
		struct blocked_call call;
	} cases[] = {
		{ true, { true, SYS_nanosleep, { 4096 }, 0, 0 } },
		{ true, { true, SYS_restart_syscall, { 0 }, 0, 0 } },
		{ true, { true, SYS_clock_nanosleep, { CLOCK_MONOTONIC, 0, 4096 }, 0, 0 } },
		{ false, { true, SYS_clock_nanosleep, { 1, TIMER_ABSTIME, 4096 }, 0, 0 } },
		{ true, { true, SYS_futex, { 4096, FUTEX_WAIT_PRIVATE, 0, 4096 }, 0, 0 } },
		{ true,
		  { true,
		    SYS_futex,
		    { 4096, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, 4096 },
		    0,
		    0 } },
		{ false, { true, SYS_futex, { 4096, FUTEX_WAIT, 0, 0 }, 0, 0 } },
		{ false, { true, SYS_futex, { 4096, FUTEX_LOCK_PI, 0, 4096 }, 0, 0 } },
		{ false, { true, SYS_ppoll, { 0, 0, 4096 }, 0, 0 } },
		{ false, { true, SYS_pselect6, { 0 }, 0, 0 } },
		{ false, { true, SYS_epoll_pwait, { 3 }, 0, 0 } },
		{ false, { true, SYS_read, { 3 }, 0, 0 } },
#ifdef SYS_poll
		{ true, { true, SYS_poll, { 0, 0, -1ull }, 0, 0 } },
		{ false, { true, SYS_select, { 0 }, 0, 0 } },
#endif
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(call_has_restart_block(&cases[i].call),
				 cases[i].has_restart_block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_no_call_twice),
		cmocka_unit_test(answers_what_the_table_says),
		cmocka_unit_test(knows_the_calls_that_a_stop_cuts_short),
		cmocka_unit_test(
			knows_the_calls_that_a_stop_cuts_short_on_sockets_with_a_time_limit),
		cmocka_unit_test(knows_what_leaves_an_error_on_a_socket),
		cmocka_unit_test(leaves_threads_alone_that_change_the_process),
		cmocka_unit_test(does_not_know_others),
		cmocka_unit_test(knows_what_restart_syscall_resumes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
