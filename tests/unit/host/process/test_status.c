/*
 * /proc/PID/status and /proc/PID/stat.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host/process/stat.h"
#include "host/process/status.h"

static const char sample[] = "Name:\ta\033b\n"
			     "Umask:\t0022\n"
			     "State:\tt (tracing stop)\n"
			     "Tgid:\t4242\n"
			     "Pid:\t4242\n"
			     "PPid:\t17\n"
			     "TracerPid:\t99\n"
			     "Uid:\t1000\t1001\t1002\t1003\n"
			     "Gid:\t4294967295\t5\t6\t7\n"
			     "Groups:\t24 25 \n"
			     "NSpid:\t4242\t31\t7\n"
			     "Kthread:\t0\n"
			     "VmSize:\t    2800 kB\n"
			     "CoreDumping:\t1\n"
			     "Threads:\t12\n"
			     "SigPnd:\t0000000000000001\n"
			     "ShdPnd:\t0000000000000002\n"
			     "SigBlk:\t0000000000000004\n"
			     "SigIgn:\t0000000000000008\n"
			     "SigCgt:\t8000000000000000\n"
			     "CapPrm:\t000001ffffffffff\n"
			     "CapEff:\t0000000000080000\n"
			     "NoNewPrivs:\t1\n"
			     "Seccomp:\t2\n"
			     "Seccomp_filters:\t3\n"
			     "x86_Thread_features:\tshstk wrss \n"
			     "x86_Thread_features_locked:\t\n"
			     "voluntary_ctxt_switches:\t10000000000\n"
			     "Something_new:\twhatever\n";

static void parses_all_that_is_kept(void **state)
{
	struct process_status status;
	struct err err;

	(void)state;
	assert_int_equal(status_parse(sample, strlen(sample), &status, &err), 0);
	assert_string_equal(status.name, "a?b");
	assert_int_equal(status.state, 't');
	assert_int_equal(status.tgid, 4242);
	assert_int_equal(status.parent, 17);
	assert_int_equal(status.tracer, 99);
	assert_int_equal(status.uid, 1000);
	assert_int_equal(status.euid, 1001);
	assert_int_equal(status.suid, 1002);
	assert_int_equal(status.gid, UINT32_MAX);
	assert_int_equal(status.inner_pid, 7);
	assert_int_equal(status.pid_namespaces, 3);
	assert_false(status.is_kernel_thread);
	assert_true(status.has_memory && status.is_dumping_core && status.no_new_privileges);
	assert_true(status.has_shadow_stack);
	assert_int_equal(status.threads, 12);
	assert_true(status.signals_caught == 1ull << 63);
	assert_int_equal(status.capabilities, 1 << 19);
	assert_int_equal(status.seccomp, 2);
	assert_int_equal(status.seccomp_filters, 3);
	assert_int_equal(status.voluntary_switches, 10000000000);
}

static void does_without_lines_that_old_kernels_lack(void **state)
{
	static const char text[] = "Name:\tx\nState:\tZ (zombie)\nx86_Thread_features:\t\n";
	struct process_status status;
	struct err err;

	(void)state;
	assert_int_equal(status_parse(text, strlen(text), &status, &err), 0);
	assert_int_equal(status.state, 'Z');
	assert_false(status.has_memory || status.has_shadow_stack);
}

static void refuses_values_that_make_no_sense(void **state)
{
	static const char *const texts[] = {
		"",
		"Name:\tx\n",
		"State:\n",
		"State:\tS\nUid:\t1 2\n",
		"State:\tS\nUid:\t1 2 4294967296\n",
		"State:\tS\nTgid:\t99999999999\n",
		"State:\tS\nNSpid:\t\n",
		"State:\tS\nSigCgt:\tzz\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct process_status status;
		struct err err;

		assert_int_equal(status_parse(texts[i], strlen(texts[i]), &status, &err), -EBADMSG);
	}
}

static void reads_its_own_status(void **state)
{
	struct process_status status;
	struct err err;

	(void)state;
	assert_int_equal(status_read(getpid(), getpid(), &status, &err), 0);
	assert_int_equal(status.state, 'R');
	assert_int_equal(status.euid, geteuid());
	assert_int_equal(status.parent, getppid());
	assert_int_equal(status_read(INT32_MAX, INT32_MAX, &status, &err), -ESRCH);
}

static void parses_a_stat_line_with_a_nasty_name(void **state)
{
	static const char text[] =
		"4242 (a) R (b c) S 17 4242 4243 0 -1 2097220 1 2 3 4 150 50 5 6 "
		"20 0 12 0 98765 2867200 334\n";
	struct process_stat stat;
	struct err err;

	(void)state;
	assert_int_equal(stat_parse(text, strlen(text), &stat, &err), 0);
	assert_string_equal(stat.name, "a) R (b c");
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.parent, 17);
	assert_int_equal(stat.session, 4243);
	assert_true(stat.is_kernel_thread);
	assert_true(stat.is_exiting);
	assert_int_equal(stat.cpu_ns, 200 * (1000000000 / sysconf(_SC_CLK_TCK)));
	assert_int_equal(stat.start_tick, 98765);
}

static void knows_threads_of_the_kernel(void **state)
{
	static const char text[] =
		"4242 (iou-wrk-4241) S 17 4242 4243 0 -1 4210768 1 2 3 4 150 50 5 6 "
		"20 0 12 0 98765 2867200 334\n";
	struct process_stat stat;
	struct err err;

	(void)state;
	assert_int_equal(stat_parse(text, strlen(text), &stat, &err), 0);
	assert_int_equal(stat.is_kernel_worker, stat_worker_flags() != 0);
	assert_false(stat.is_kernel_thread);
}

static void refuses_a_broken_stat_line(void **state)
{
	static const char *const texts[] = { "", "1 (a", "1 )a(", "1 (a) S 1 2",
					     "1 (a) S x x x x x x x" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct process_stat stat;
		struct err err;

		assert_int_equal(stat_parse(texts[i], strlen(texts[i]), &stat, &err), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_all_that_is_kept),
		cmocka_unit_test(does_without_lines_that_old_kernels_lack),
		cmocka_unit_test(refuses_values_that_make_no_sense),
		cmocka_unit_test(reads_its_own_status),
		cmocka_unit_test(parses_a_stat_line_with_a_nasty_name),
		cmocka_unit_test(knows_threads_of_the_kernel),
		cmocka_unit_test(refuses_a_broken_stat_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
