/*
 * Says on request how it sees itself: its environment, the signal stack and mask of each of its
 * threads, the disposition of every signal, its directory and file mask, its timers, whether its
 * libc takes locks and how many heap arenas it has, and all of mirror_facts.c.  One line "BEGIN",
 * the lines, "END" for every byte that comes on its standard input; 's' and 'u' first set or unset
 * MIRROR_SET, 'm' says whether a large allocation succeeds, 'f' makes a child that stays.  No lines
 * after those that only work: 'w' forks, 'd' uses runtimes of devices, 't' measures how many ns
 * things of libc's take.
 */
#define _GNU_SOURCE
#include "mirror_facts.h"
#include "workload.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS      3
#define SIGNAL_COUNT 64
#define REPORT_BYTES 2048
#define LARGE_BYTES  (200u << 20)
#define NEEDS_LOCK   0x80 /* of glibc, in a FILE */
#define FLAGS_OFFSET 0x74
#define SPEED_TURNS  100
#define SPEED_CALLS  1000

/* What the kernel's rt_sigaction fills in: libc hides its own signals 32 and 33. */
struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

/* In the program that is linked with it. */
__attribute__((weak)) void devices_use(unsigned thread);

static bool is_large_had;
static pid_t family;
static uint64_t speeds[2]; /* ns for a hundred calls */
static pthread_barrier_t asked, answered;
static char reports[THREADS + 1][REPORT_BYTES];

static void thread_report(int index)
{
	uint64_t mask = 0;
	stack_t stack;

	sigaltstack(NULL, &stack);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
	snprintf(reports[index], REPORT_BYTES, "thread %d altstack=%p/%zu/%d mask=%llx", index,
		 stack.ss_sp, stack.ss_size, stack.ss_flags, (unsigned long long)mask);
	facts_of_thread(reports[index] + strlen(reports[index]),
			REPORT_BYTES - strlen(reports[index]));
}

static void thread_set_up(int index)
{
	stack_t stack = { .ss_sp = malloc(32768), .ss_size = 32768 };
	sigset_t set;

	sigaltstack(&stack, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1 + index);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
}

static void *mirror_thread(void *argument)
{
	int index = (int)(uintptr_t)argument;

	thread_set_up(index);
	for (;;) {
		pthread_barrier_wait(&asked);
		thread_report(index);
		pthread_barrier_wait(&answered);
	}
	return NULL;
}

static void signal_handle(int number)
{
	(void)number;
}

static void signals_set_up(void)
{
	struct sigaction action = { .sa_handler = signal_handle, .sa_flags = SA_RESTART };

	sigaddset(&action.sa_mask, SIGTERM);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

static void dispositions_print(void)
{
	struct kernel_action action;

	for (int number = 1; number <= SIGNAL_COUNT; number++) {
		memset(&action, 0, sizeof(action));
		syscall(SYS_rt_sigaction, number, NULL, &action, sizeof(action.mask));
		printf("signal %d handler=%p flags=%lx mask=%llx\n", number, action.handler,
		       action.flags, (unsigned long long)action.mask);
	}
}

static void process_print(void)
{
	mode_t mask = umask(0);
	char *directory = getcwd(NULL, 0);

	umask(mask);
	printf("umask %o\ncwd %s\nerrno %d\n", mask, directory, errno);
	free(directory);
	for (char **entry = environ; entry && *entry; entry++)
		printf("env %s\n", *entry);
}

#ifdef __GLIBC__
static void file_print(const char *name, FILE *file)
{
	int flags;

	memcpy(&flags, (const char *)file + FLAGS_OFFSET, sizeof(flags));
	printf("file %s locks=%d\n", name, (flags & NEEDS_LOCK) != 0);
}

static unsigned arenas_count(void)
{
	char *text = NULL;
	size_t size;
	unsigned count = 0;
	FILE *file = open_memstream(&text, &size);

	malloc_info(0, file);
	fclose(file);
	for (const char *at = text; (at = strstr(at, "<heap nr=")); at++)
		count++;
	free(text);
	return count;
}

/* What libc does otherwise in a process that has, or had, threads. */
static void libc_print(void)
{
	const char *is_single = dlsym(RTLD_DEFAULT, "__libc_single_threaded");
	FILE *file = fopen("/dev/null", "w");

	printf("single %d\narenas %u\n", is_single ? *is_single : -1, arenas_count());
	printf("large %d\n", is_large_had);
	file_print("stdin", stdin);
	file_print("stdout", stdout);
	file_print("stderr", stderr);
	file_print("new", file);
	fclose(file);
}
#else
static void libc_print(void)
{
	printf("large %d\n", is_large_had);
}
#endif

static uint64_t time_of(void (*use)(void))
{
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < SPEED_TURNS; i++) {
		uint64_t begin = now_ns(), taken;

		for (unsigned k = 0; k < SPEED_CALLS; k++)
			use();
		taken = now_ns() - begin;
		best = taken < best ? taken : best;
	}
	return best / (SPEED_CALLS / 100);
}

static FILE *speed_file;

static void use_heap(void)
{
	void *volatile block = malloc(3000); /* too large for a cache of the thread's */

	free(block);
}

static void use_file(void)
{
	putc('x', speed_file);
}

static void speeds_measure(void)
{
	speed_file = speed_file ? speed_file : fopen("/dev/null", "w");
	speeds[0] = time_of(use_heap);
	speeds[1] = time_of(use_file);
}

static void timers_print(void)
{
	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
		struct itimerval timer;

		getitimer(which, &timer);
		printf("timer %d %ld.%06ld\n", which, timer.it_value.tv_sec,
		       timer.it_value.tv_usec);
	}
	printf("nice %d\npersonality %x\nslack %d\ndumpable %d\nkeepcaps %d\n",
	       getpriority(PRIO_PROCESS, 0), personality(0xffffffff), prctl(PR_GET_TIMERSLACK),
	       prctl(PR_GET_DUMPABLE), prctl(PR_GET_KEEPCAPS));
}

static void mirror_print(bool has_threads)
{
	if (has_threads) {
		pthread_barrier_wait(&asked);
		pthread_barrier_wait(&answered);
	}
	thread_report(0);
	puts("BEGIN");
	for (int i = 0; i <= (has_threads ? THREADS : 0); i++)
		puts(reports[i]);
	dispositions_print();
	process_print();
	timers_print();
	libc_print();
	facts_print();
	printf("family %d\nspeed heap=%llu file=%llu\n", family, (unsigned long long)speeds[0],
	       (unsigned long long)speeds[1]);
	puts("END");
	fflush(stdout);
}

static void request_obey(char request)
{
	if (request == 's')
		setenv("MIRROR_SET", "by the application", 1);
	if (request == 'u')
		unsetenv("MIRROR_SET");
	if (request == 'm') {
		void *large = malloc(LARGE_BYTES);

		is_large_had = large != NULL;
		free(large);
	}
	if (request == 'f' && !(family = fork())) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

static void fork_once(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		workload_fail("fork");
}

static bool is_work(char request)
{
	if (request == 'w')
		fork_once();
	else if (request == 'd' && devices_use)
		devices_use(0);
	else if (request == 't')
		speeds_measure();
	else
		return false;
	puts("BEGIN\nEND");
	fflush(stdout);
	return true;
}

static void mirror_loop(bool has_threads)
{
	char request;
	ssize_t count;

	facts_begin();
	workload_ready();
	while ((count = read(STDIN_FILENO, &request, 1)) != 0) {
		if (count < 0) {
			workload_fail("read");
			continue;
		}
		if (!is_work(request)) {
			request_obey(request);
			mirror_print(has_threads);
		}
		workload_turn();
	}
	exit(0);
}

static void mirror_run(const void *data)
{
	pthread_barrier_init(&asked, NULL, THREADS + 1);
	pthread_barrier_init(&answered, NULL, THREADS + 1);
	signals_set_up();
	thread_set_up(0);
	for (uintptr_t i = 1; i <= THREADS; i++)
		thread_start(mirror_thread, (void *)i, 0);
	(void)data;
	mirror_loop(true);
}

static void single_run(const void *data)
{
	(void)data;
	signals_set_up();
	thread_set_up(0);
	mirror_loop(false);
}

const struct workload workloads[] = {
	{ "mirror", mirror_run, NULL },
	{ "mirror_single", single_run, NULL },
	{ NULL, NULL, NULL },
};
