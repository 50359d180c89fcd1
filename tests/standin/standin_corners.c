/*
 * STAND-IN, for tests only.  A program that calls HIP where calls are rare, and says whether it
 * took harm:
 *
 *   escapes N   N calls, each of which a tool may leave by leap_back()
 *   handlers N  N calls out of signal handlers on a stack of their own, amid another call
 *   tiny N      N threads with the least stack that there is make calls
 *   brief N     N threads that make one call and end, while a library comes and goes
 *   floats N    N calls with arguments in vector registers
 *   quit
 *
 * Answers are "left N" (how many calls were left) and "end".
 */
#define _GNU_SOURCE
#include "standin_hip.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE     8u
#define SIGNAL_ROOM 65536u

static sigjmp_buf out;
static volatile sig_atomic_t may_leap;
static unsigned left;

static void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	printf("wrong %s\n", what);
	fflush(stdout);
	_exit(1);
}

static void call(void)
{
	int count = 0;

	check(!hipGetDeviceCount(&count) && count == 2, "hipGetDeviceCount");
}

/* For tools: out of the call that the program is in. */
__attribute__((visibility("default"))) void leap_back(void);

void leap_back(void)
{
	if (may_leap)
		siglongjmp(out, 1);
}

static void escapes(unsigned count)
{
	for (volatile unsigned i = 0; i < count; i++) {
		if (sigsetjmp(out, 1)) {
			may_leap = 0;
			left++;
			continue;
		}
		may_leap = 1;
		call();
		may_leap = 0;
	}
}

static void on_signal(int number)
{
	(void)number;
	call();
}

static void handlers(unsigned count)
{
	stack_t stack = { .ss_sp = malloc(SIGNAL_ROOM), .ss_size = SIGNAL_ROOM }, none = { 0 };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	none.ss_flags = SS_DISABLE;
	check(stack.ss_sp && !sigaltstack(&stack, NULL), "sigaltstack");
	sigaction(SIGUSR1, &action, NULL);
	for (unsigned i = 0; i < count; i++) {
		raise(SIGUSR1);
		call();
	}
	sigaltstack(&none, NULL);
	free(stack.ss_sp);
}

static void *call_once(void *argument)
{
	call();
	return argument;
}

static void run_threads(unsigned count, const pthread_attr_t *attributes)
{
	pthread_t threads[AT_ONCE];

	for (unsigned i = 0; i < AT_ONCE; i++)
		check(!pthread_create(&threads[i], attributes, call_once, NULL), "pthread_create");
	for (unsigned done = AT_ONCE; done < count + AT_ONCE; done++) {
		pthread_join(threads[done % AT_ONCE], NULL);
		if (done < count)
			check(!pthread_create(&threads[done % AT_ONCE], attributes, call_once,
					      NULL),
			      "pthread_create");
	}
}

static void tiny(unsigned count)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	check(!pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)),
	      "stack");
	run_threads(count, &attributes);
	pthread_attr_destroy(&attributes);
}

static void *come_and_go(void *is_over)
{
	while (!__atomic_load_n((bool *)is_over, __ATOMIC_RELAXED)) {
		void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);

		if (library)
			dlclose(library);
	}
	return NULL;
}

static void brief(unsigned count)
{
	bool is_over = false;
	pthread_t thread;

	check(!pthread_create(&thread, NULL, come_and_go, &is_over), "pthread_create");
	run_threads(count, NULL);
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

static void floats(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		float texture[2], least = (float)i + 0.25f, most = (float)i + 1.5f;

		check(!hipTexRefSetMipmapLevelClamp(texture, least, most) && texture[0] == least &&
			      texture[1] == most,
		      "floats");
	}
}

static const struct {
	const char *word;
	void (*run)(unsigned count);
} commands[] = { { "escapes", escapes },
		 { "handlers", handlers },
		 { "tiny", tiny },
		 { "brief", brief },
		 { "floats", floats } };

int main(void)
{
	char line[64], word[16];
	unsigned number;

	call();
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%15s %u", word, &number) != 2)
			break;
		left = 0;
		for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
			if (!strcmp(word, commands[i].word))
				commands[i].run(number);
		printf("left %u\nend\n", left);
		fflush(stdout);
	}
	return 0;
}
