/*
 * A reused pid and an exec are noticed.
 */
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/process/identity.h"

static struct identity sample(void)
{
	struct identity identity = { .pid = 42, .start_tick = 7, .has_random = true };

	identity.auxv.size = 16;
	memset(identity.auxv.bytes, 1, 16);
	memset(identity.random, 2, sizeof(identity.random));
	return identity;
}

static void is_the_same_as_itself(void **state)
{
	struct identity a = sample(), b = sample();

	(void)state;
	assert_int_equal(identity_compare(&a, &b), IDENTITY_SAME);
	b.has_random = false;
	b.random[0] = 9;
	assert_int_equal(identity_compare(&a, &b), IDENTITY_SAME);
}

static void notices_a_reused_pid(void **state)
{
	struct identity a = sample(), b = sample();

	(void)state;
	b.start_tick++;
	assert_int_equal(identity_compare(&a, &b), IDENTITY_REUSED);
}

static void notices_an_exec(void **state)
{
	struct identity a = sample(), b = sample();

	(void)state;
	b.auxv.bytes[15] = 9;
	assert_int_equal(identity_compare(&a, &b), IDENTITY_EXEC);
	b = sample();
	b.random[15] = 9;
	assert_int_equal(identity_compare(&a, &b), IDENTITY_EXEC);
	b = sample();
	b.auxv.size = 0;
	assert_int_equal(identity_compare(&a, &b), IDENTITY_EXEC);
}

/* The child execs itself away when it is told to. */
static void notices_a_real_exec(void **state)
{
	struct identity before, after;
	struct err err;
	int go[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(go), 0);
	child = fork();
	if (child == 0) {
		char byte;

		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			execlp("sleep", "sleep", "60", (char *)NULL);
		_exit(1);
	}
	close(go[0]);
	assert_int_equal(identity_read(child, child, &before, &err), 0);
	assert_int_equal(identity_read(child, child, &after, &err), 0);
	assert_int_equal(identity_compare(&before, &after), IDENTITY_SAME);

	assert_int_equal(write(go[1], "x", 1), 1);
	for (unsigned i = 0; i < PATIENCE_MS && identity_compare(&before, &after) == IDENTITY_SAME;
	     i++) {
		usleep(1000);
		assert_int_equal(identity_read(child, child, &after, &err), 0);
	}
	assert_int_equal(identity_compare(&before, &after), IDENTITY_EXEC);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(go[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_the_same_as_itself),
		cmocka_unit_test(notices_a_reused_pid),
		cmocka_unit_test(notices_an_exec),
		cmocka_unit_test(notices_a_real_exec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
