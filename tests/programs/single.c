/*
 * Programs with one thread, for which libc works without locks: each says at every turn, as the
 * number of signals that it has received, whether it still does.  On SIGUSR1 it does what it is
 * named after.
 */
#define _GNU_SOURCE
#include "filter.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif

#define OTHER_USER      65534
#define PREPARE_NS      (1500 * NS_PER_MS)
#define OWN_BLOCK_S     2
#define CHILD_SECONDS   5
#define CHILD_BLOCKS    1000
#define CHILD_BLOCK_MAX 50000
#define FILES           2000
#define FILE_FLAGS      0x74 /* in glibc's FILE, part of its binary interface */
#define FILE_NEEDS_LOCK 0x80u

static volatile sig_atomic_t is_told;
static void *volatile allocated;
static FILE *files[FILES];

static const struct rule harmless[] = { { SYS_reboot, ACTION_KILL }, END };
static const struct rules filter = { ACTION_ALLOW, harmless };

static void note_signal(int number)
{
	(void)number;
	is_told = true;
}

static bool is_single(void)
{
	return *(volatile char *)&__libc_single_threaded;
}

static void turn_for_ever(void (*act)(void))
{
	struct sigaction action = { .sa_handler = note_signal, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &action, NULL);
	workload_ready();
	for (;; workload_turn()) {
		sleep_ns(NS_PER_MS);
		stats->signals_received = is_single();
		if (!is_told)
			continue;
		is_told = false;
		act();
		stats->signals_sent++;
	}
}

static void do_nothing(void)
{
}

/* Has the filter from the beginning. */
static void run_filtered(const void *unused)
{
	(void)unused;
	if (filter_install_with(&filter, 0) < 0)
		workload_skip("seccomp");
	turn_for_ever(do_nothing);
}

static void install_filter(void)
{
	if (filter_install_with(&filter, 0) < 0)
		workload_corrupt("seccomp");
}

static void run_filter(const void *unused)
{
	(void)unused;
	turn_for_ever(install_filter);
}

static void change_user(void)
{
	if (setresuid(OTHER_USER, OTHER_USER, OTHER_USER))
		workload_corrupt("setresuid");
}

static void run_user(const void *unused)
{
	(void)unused;
	if (geteuid())
		workload_skip("only root may become somebody else");
	turn_for_ever(change_user);
}

/* Runs inside of fork, which has already found out that there is one thread. */
static void prepare_slowly(void)
{
	stats->signals_sent++;
	sleep_ns(PREPARE_NS);
}

static void child_allocate(void)
{
	static void *volatile blocks[CHILD_BLOCKS];

	alarm(CHILD_SECONDS);
	for (unsigned i = 0; i < CHILD_BLOCKS; i++)
		blocks[i] = malloc(1 + i * 7919 % CHILD_BLOCK_MAX);
	for (unsigned i = 0; i < CHILD_BLOCKS; i++)
		free(blocks[i]);
	_exit(0);
}

static void fork_slowly(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child)
		child_allocate();
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		workload_corrupt("a child cannot allocate");
}

static void run_fork(const void *unused)
{
	(void)unused;
	if (pthread_atfork(prepare_slowly, NULL, NULL))
		workload_skip("pthread_atfork");
	allocated = malloc(CHILD_BLOCK_MAX); /* else limpet does not know the heap */
	turn_for_ever(fork_slowly);
}

/* As many as there are, say that they need locks: the number of signals that were lost. */
static void count_locked(void)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < FILES; i++)
		count += (*(uint32_t *)((char *)files[i] + FILE_FLAGS) & FILE_NEEDS_LOCK) != 0;
	stats->signals_lost = count;
}

static void run_files(const void *unused)
{
	struct rlimit limit = { FILES + 100, FILES + 100 };

	(void)unused;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		workload_skip("setrlimit");
	for (unsigned i = 0; i < FILES; i++)
		if (!(files[i] = fopen("/dev/null", "r")))
			workload_skip("fopen");
	turn_for_ever(count_locked);
}

static bool has_two_threads(void)
{
	struct stat folder;

	return !stat("/proc/self/task", &folder) && folder.st_nlink > 3;
}

/* Looks for a moment in which libc takes no locks beside a second thread.  Twice: that thread may
 * have ended between two looks. */
static void run_beside(const void *unused)
{
	(void)unused;
	workload_ready();
	for (;; workload_turn()) {
		sleep_ns(NS_PER_MS / 20);
		stats->signals_received = is_single();
		if (has_two_threads() && is_single() && has_two_threads() && is_single())
			workload_corrupt("two threads, and libc takes no locks");
	}
}

/* Files of which glibc itself says that they need locks, always. */
static void run_cookies(const void *unused)
{
	static char text[1];

	(void)unused;
	for (unsigned i = 0; i < FILES; i++)
		if (!(files[i] = fmemopen(text, sizeof(text), "r")))
			workload_skip("fmemopen");
	turn_for_ever(count_locked);
}

#ifdef __x86_64__
#define BLOCK_WORDS 512
#define BLOCK_FLAG  3 /* where glibc's block says that there are other threads */

static uint64_t own_block[BLOCK_WORDS] __attribute__((aligned(64)));

static inline __attribute__((always_inline)) long raw_call(long number, long first, long second)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(first), "S"(second)
			 : "rcx", "r11", "memory");
	return result;
}

/* Its thread pointer leads to memory of its own for a while, as in a program that runs another
 * system's code.  No function is called there. */
static __attribute__((noinline, optimize("no-stack-protector"))) void use_own_block(void)
{
	struct timespec pause = { OWN_BLOCK_S, 0 };
	uint64_t glibcs;

	own_block[BLOCK_FLAG] = 1;
	raw_call(SYS_arch_prctl, ARCH_GET_FS, (long)&glibcs);
	raw_call(SYS_arch_prctl, ARCH_SET_FS, (long)own_block);
	__atomic_store_n(&stats->signals_lost, 1, __ATOMIC_RELEASE);
	raw_call(SYS_nanosleep, (long)&pause, (long)&pause);
	raw_call(SYS_arch_prctl, ARCH_SET_FS, (long)glibcs);
	stats->signals_lost = 0;
	if (own_block[BLOCK_FLAG] != 1)
		workload_corrupt("a word of the program's own was changed");
}

static void run_block(const void *unused)
{
	(void)unused;
	turn_for_ever(use_own_block);
}
#else
static void run_block(const void *unused)
{
	(void)unused;
	workload_skip("a thread pointer is set by a system call on x86-64 only");
}
#endif

const struct workload workloads[] = {
	{ "beside", run_beside, NULL },
	{ "block", run_block, NULL },
	{ "cookies", run_cookies, NULL },
	{ "files", run_files, NULL },
	{ "fork", run_fork, NULL },
	{ "filtered", run_filtered, NULL },
	{ "filter", run_filter, NULL },
	{ "user", run_user, NULL },
	{ NULL, NULL, NULL },
};
