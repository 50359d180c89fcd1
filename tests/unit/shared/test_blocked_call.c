/*
 * The call a thread waits in, as the kernel writes it, and the real file of a thread of ours.
 */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/arch/blocked_call.h"

static void reads_number_arguments_and_address(void **state)
{
	struct blocked_call call;

	(void)state;
	blocked_call_parse("202 0x1 0x2 0x3 0x4 0x5 0xffffffffffffffff 0x7ffc000000 0xfeed\n",
			   &call);
	assert_true(call.is_known);
	assert_int_equal(call.nr, 202);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(call.args[i], i + 1);
	assert_true(call.args[5] == UINT64_MAX);
	assert_int_equal(call.stack, 0x7ffc000000);
	assert_int_equal(call.ip, 0xfeed);
}

static void reads_call_number_zero(void **state)
{
	struct blocked_call call;

	(void)state;
	blocked_call_parse("0 0x0 0x0 0x0 0x0 0x0 0x0 0x1 0x2", &call);
	assert_true(call.is_known);
	assert_int_equal(call.nr, 0);
	assert_int_equal(call.ip, 2);
}

static void knows_nothing_of_a_thread_that_is_in_no_call(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"running\n",
		"-1 0x7ffc 0xfeed\n",
		"202",
		"202 0x1 0x2 0x3 0x4 0x5 0x6 0x7\n",
		"202 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x\n",
		"202 0x1 0x2 0x3 0x4 0x5 0x6 0x7 8\n",
		"202 1 2 3 4 5 6 7 8\n",
		"0xca 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n",
		"202,0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct blocked_call call, none = { 0 };

		memset(&call, 0xff, sizeof(call));
		blocked_call_parse(texts[i], &call);
		assert_false(call.is_known);
		assert_int_equal(call.nr, none.nr);
		assert_memory_equal(call.args, none.args, sizeof(none.args));
		assert_true(call.stack == 0 && call.ip == 0);
	}
}

static void read_real(pid_t pid, char *text, size_t room)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(text, (int)room, file));
	fclose(file);
}

static void agrees_with_the_kernel_about_a_child(void **state)
{
	struct blocked_call call = { 0 };
	int ends[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		char byte;

		_exit((int)syscall(SYS_read, ends[0], &byte, 0x11));
	}
	for (unsigned tries = 0; tries < PATIENCE_MS && !call.is_known; tries++) {
		char text[256];

		usleep(1000);
		read_real(child, text, sizeof(text));
		blocked_call_parse(text, &call);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(call.is_known);
	assert_int_equal(call.nr, SYS_read);
	assert_int_equal(call.args[0], ends[0]);
	assert_int_equal(call.args[2], 0x11);
	assert_true(call.stack && call.ip);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_number_arguments_and_address),
		cmocka_unit_test(reads_call_number_zero),
		cmocka_unit_test(knows_nothing_of_a_thread_that_is_in_no_call),
		cmocka_unit_test(agrees_with_the_kernel_about_a_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
