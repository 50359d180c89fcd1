/*
 * Programs that make it hard for whoever traces their calls: they leave calls in the middle, fork,
 * allocate in signal handlers, load libraries late, change the words that a tracer has changed.
 * Each counts what it did, so that a tracer's count can be compared with it.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK_BYTES 12345 /* a size that only this program asks for */

/* The compiler would see that nobody wants the memory. */
static void *volatile taken;

static void allocate(size_t size)
{
	taken = malloc(size);
	if (!taken)
		workload_fail("malloc");
	free(taken);
}

static jmp_buf outside;

static int compare_and_leave(const void *a, const void *b)
{
	(void)a;
	(void)b;
	longjmp(outside, 1);
}

/* Leaves qsort, a traced call, from inside. */
static void longjmp_run(const void *data)
{
	int numbers[4] = { 4, 3, 2, 1 };

	(void)data;
	workload_ready();
	for (;;) {
		if (!setjmp(outside)) {
			qsort(numbers, 4, sizeof(int), compare_and_leave);
			workload_fail("qsort came back");
		}
		allocate(MARK_BYTES);
		usleep(100);
		workload_turn();
	}
}

static sigjmp_buf interrupted;
static volatile sig_atomic_t may_leave;

static void leave_handler(int number)
{
	(void)number;
	if (may_leave)
		siglongjmp(interrupted, 1);
}

/* Leaves whatever the signal found it in by siglongjmp: not in malloc, which forbids that, but
 * anywhere in a call that is only a system call. */
static void siglongjmp_run(const void *data)
{
	struct sigaction action = { .sa_handler = leave_handler, .sa_flags = SA_NODEFER };
	char byte = 'x';
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec period = { { 0, 300000 }, { 0, 300000 } };

	(void)data;
	sigaction(SIGUSR1, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		workload_skip("timer_create");
	timer_settime(timer, 0, &period, NULL);
	workload_ready();
	for (;;) {
		if (!sigsetjmp(interrupted, 1)) {
			may_leave = 1;
			for (;;)
				if (write(fd, &byte, 1) != 1 && errno != EINTR)
					workload_fail("write");
		}
		may_leave = 0;
		workload_turn();
	}
}

static void *wait_for_ever(void *pipe_end)
{
	char byte;
	sem_t never;

	sem_init(&never, 0, 0);
	if (*(int *)pipe_end >= 0)
		while (read(*(int *)pipe_end, &byte, 1) < 0)
			;
	sem_wait(&never);
	return NULL;
}

static void cancel_one(int *pipe_end)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, wait_for_ever, pipe_end)) {
		workload_fail("pthread_create");
		return;
	}
	usleep(2000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED)
		workload_corrupt("a thread was not cancelled");
}

static void cancel_run(const void *data)
{
	int ends[2], none = -1;

	(void)data;
	if (pipe2(ends, O_CLOEXEC))
		workload_skip("pipe");
	workload_ready();
	for (;;) {
		cancel_one(&ends[0]);
		cancel_one(&none);
		allocate(MARK_BYTES);
		workload_turn();
	}
}

#define CHILD_BYTES 54321

static void be_child(void)
{
	for (int i = 0; i < 200; i++)
		allocate(CHILD_BYTES);
	_exit(0);
}

/* Children that allocate a size that the parent never asks for. */
static void fork_run(const void *data)
{
	int status;

	(void)data;
	workload_ready();
	for (;;) {
		pid_t child = fork();

		if (!child)
			be_child();
		allocate(MARK_BYTES);
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			workload_fail("child");
		workload_turn();
	}
}

static _Atomic uint64_t in_handler;

static void allocating_handler(int number)
{
	int saved = errno;

	(void)number;
	/* Not malloc, which a handler must not call; the same for a tracer. */
	void *memory = mmap(NULL, MARK_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		workload_fail("mmap");
	munmap(memory, MARK_BYTES);
	in_handler++;
	errno = saved;
}

/* A handler that makes traced calls, while the program makes them too. */
static void handler_run(const void *data)
{
	struct sigaction action = { .sa_handler = allocating_handler, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec period = { { 0, 100000 }, { 0, 100000 } };
	timer_t timer;

	(void)data;
	sigaction(SIGUSR1, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		workload_skip("timer_create");
	timer_settime(timer, 0, &period, NULL);
	workload_ready();
	for (;;) {
		for (int i = 0; i < 10000; i++)
			allocate(64);
		workload_turn();
	}
}

#define HALF_BYTES (1u << 20)

static void *allocate_above_a_signal_stack(void *stack)
{
	stack_t signals = { .ss_sp = (char *)stack + HALF_BYTES, .ss_size = HALF_BYTES };

	sigaltstack(&signals, NULL);
	for (;;) {
		for (int i = 0; i < 1000; i++)
			allocate(64);
		workload_turn();
	}
	return NULL;
}

/* As above, but the handler runs on a stack that lies higher than the thread's own. */
static void altstack_run(const void *data)
{
	struct sigaction action = { .sa_handler = allocating_handler,
				    .sa_flags = SA_RESTART | SA_ONSTACK };
	pthread_attr_t attributes;
	pthread_t thread;
	void *stack = mmap(NULL, 2 * HALF_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)data;
	sigaction(SIGUSR1, &action, NULL);
	pthread_attr_init(&attributes);
	if (stack == MAP_FAILED || pthread_attr_setstack(&attributes, stack, HALF_BYTES) ||
	    pthread_create(&thread, &attributes, allocate_above_a_signal_stack, stack))
		workload_skip("a thread");
	workload_ready();
	for (;;) {
		pthread_kill(thread, SIGUSR1);
		usleep(100);
	}
}

static const char *beside(const char *name)
{
	static char path[PATH_MAX];

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		workload_skip("readlink");
	snprintf(strrchr(path, '/') + 1, NAME_MAX, "%s", name);
	return path;
}

static volatile sig_atomic_t is_asked;

static void on_ask(int number)
{
	(void)number;
	is_asked++;
}

static void await_ask(void)
{
	int before = is_asked;

	while (is_asked == before) {
		usleep(1000);
		workload_turn();
	}
}

/* Loads a library when SIGUSR1 asks, waits until it is hooked and for another signal, and has it
 * allocate. */
static void late_run(const void *data)
{
	struct sigaction action = { .sa_handler = on_ask, .sa_flags = SA_RESTART };
	void (*allocate_there)(size_t, int);
	void *(*malloc_word)(void);
	void *library;

	(void)data;
	sigaction(SIGUSR1, &action, NULL);
	workload_ready();
	await_ask();
	library = dlopen(beside("late.so"), RTLD_NOW);
	allocate_there = library ? (void (*)(size_t, int))dlsym(library, "allocate_there") : NULL;
	malloc_word = library ? (void *(*)(void))dlsym(library, "malloc_word") : NULL;
	if (!allocate_there || !malloc_word) {
		workload_fail(dlerror());
		workload_idle();
	}
	while (malloc_word() == dlsym(RTLD_DEFAULT, "malloc"))
		usleep(1000);
	for (;;) {
		stats->signals_received++; /* a place for the driver to see it */
		await_ask();
		allocate_there(MARK_BYTES, 1000);
	}
}

/* The word in late.so's own table, which it finds for us. */
static void foreign_run(const void *data)
{
	struct sigaction action = { .sa_handler = on_ask, .sa_flags = SA_RESTART };
	void *library = dlopen(beside("late.so"), RTLD_NOW);
	void (*change)(void) = library ? (void (*)(void))dlsym(library, "change_word") : NULL;
	void (*allocate_there)(size_t, int) =
		library ? (void (*)(size_t, int))dlsym(library, "allocate_there") : NULL;

	(void)data;
	if (!change || !allocate_there)
		workload_skip("late.so");
	sigaction(SIGUSR1, &action, NULL);
	workload_ready();
	await_ask();
	change();
	for (;;) {
		allocate_there(MARK_BYTES, 10);
		usleep(1000);
		workload_turn();
	}
}

#define BLOCKED 3
static int blocked_ends[BLOCKED][2];
static _Atomic uint64_t came_back;

static void *block(void *ends)
{
	char byte;

	for (;;)
		if (read(((int *)ends)[0], &byte, 1) != 1)
			workload_fail("read");
		else
			came_back++;
	return NULL;
}

/* Threads that wait in read until SIGUSR1 asks, each for a pipe of its own. */
static void blocked_run(const void *data)
{
	struct sigaction action = { .sa_handler = on_ask, .sa_flags = SA_RESTART };
	uint64_t written = 0;

	(void)data;
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < BLOCKED; i++) {
		if (pipe2(blocked_ends[i], O_CLOEXEC))
			workload_skip("pipe");
		thread_start(block, blocked_ends[i], 0);
	}
	workload_ready();
	for (;;) {
		await_ask();
		for (int i = 0; i < BLOCKED; i++, written++)
			if (write(blocked_ends[i][1], "x", 1) != 1)
				workload_fail("write");
		while (came_back != written)
			usleep(1000);
		stats->signals_received = written; /* a place for the driver to see it */
	}
}

static volatile sig_atomic_t is_released;

static void on_release(int number)
{
	(void)number;
	is_released = 1;
}

/* Stays in the handler, on top of whatever it found, until SIGUSR2. */
static void park(int number)
{
	int saved = errno;

	(void)number;
	is_released = 0;
	stats->signals_received++;
	while (!is_released)
		usleep(1000);
	errno = saved;
}

/* Calls that a signal finds a tracer in most of the time: with a stack to be walked. */
static void parked_run(const void *data)
{
	struct sigaction parking = { .sa_handler = park, .sa_flags = SA_RESTART };
	struct sigaction releasing = { .sa_handler = on_release, .sa_flags = SA_RESTART };

	(void)data;
	sigaction(SIGUSR1, &parking, NULL);
	sigaction(SIGUSR2, &releasing, NULL);
	workload_ready();
	for (;;) {
		for (int i = 0; i < 1000; i++)
			allocate(64);
		workload_turn();
	}
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *hold(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&mutex);
		usleep(2000);
		pthread_mutex_unlock(&mutex);
		usleep(500);
	}
	return NULL;
}

/* One lock that is held most of the time, one that nobody else wants. */
static void locks_run(const void *data)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

	(void)data;
	thread_start(hold, NULL, 0);
	workload_ready();
	for (;;) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		for (int i = 0; i < 100; i++) {
			pthread_mutex_lock(&own);
			pthread_mutex_unlock(&own);
		}
		if (pthread_mutex_lock(&checking) || pthread_mutex_lock(&checking) != EDEADLK ||
		    pthread_mutex_unlock(&checking))
			workload_corrupt("an error-checking mutex");
		workload_turn();
	}
}

/* The same calls each turn, some of which fail. */
static void files_run(const void *data)
{
	struct sockaddr_un nobody = { AF_UNIX, "/nonexistent/socket" };
	char buffer[64];

	(void)data;
	workload_ready();
	for (;;) {
		int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
		int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		FILE *file = fopen("/proc/self/stat", "re");

		if (read(fd, buffer, sizeof(buffer)) != sizeof(buffer) || close(fd))
			workload_fail("read");
		if (open("/nonexistent/file", O_RDONLY) >= 0 || errno != ENOENT)
			workload_corrupt("errno of open");
		/* NOLINTNEXTLINE: an address that is not there */
		if (open((const char *)8, O_RDONLY) >= 0 || errno != EFAULT)
			workload_corrupt("errno of open of nothing");
		if (!connect(other, (struct sockaddr *)&nobody, sizeof(nobody)) || errno != ENOENT)
			workload_corrupt("errno of connect");
		if (!fgets(buffer, sizeof(buffer), file) || fclose(file) || close(other))
			workload_fail("stdio");
		usleep(1000);
		workload_turn();
	}
}

/* Somebody who listens, under a name that the kernel finds. */
static int listener_make(struct sockaddr_un *ret, socklen_t *ret_size)
{
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	*ret_size = sizeof(*ret);
	if (bind(listener, (struct sockaddr *)ret, sizeof(ret->sun_family)) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)ret, ret_size))
		workload_fail("listen");
	return listener;
}

/* An address for which there is no room is not written, only how long it is. */
static void accept_nowhere(int listener, const struct sockaddr_un *name, socklen_t size)
{
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), accepted;
	socklen_t room = 0;

	if (connect(client, (const struct sockaddr *)name, size))
		workload_fail("connect");
	/* NOLINTNEXTLINE: an address that is not there */
	accepted = accept(listener, (struct sockaddr *)8, &room);
	if (accepted < 0 || !room)
		workload_corrupt("accept without room");
	close(accepted);
	close(client);
}

/* Of an address that has too little room the first bytes are written; how long it is, is told. */
static void accept_shortened(int listener, const struct sockaddr_un *name, socklen_t size)
{
	const struct sockaddr_un nothing = { .sun_family = AF_UNIX };
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), accepted;
	struct sockaddr_un peer = { .sun_path = "ab another's" };
	socklen_t room = sizeof(peer.sun_family) + 1;

	if (bind(client, (const struct sockaddr *)&nothing, sizeof(nothing.sun_family)) ||
	    connect(client, (const struct sockaddr *)name, size))
		workload_fail("connect");
	accepted = accept(listener, (struct sockaddr *)&peer, &room);
	if (accepted < 0 || room <= sizeof(peer.sun_family) + 1 || peer.sun_path[1] != 'b')
		workload_corrupt("accept with too little room");
	close(accepted);
	close(client);
}

typedef void accept_way(int listener, const struct sockaddr_un *name, socklen_t size);

static void accepts_run(accept_way *way)
{
	struct sockaddr_un name;
	socklen_t size;
	int listener = listener_make(&name, &size);

	workload_ready();
	for (;;) {
		way(listener, &name, size);
		usleep(1000);
		workload_turn();
	}
}

static void nowhere_run(const void *data)
{
	(void)data;
	accepts_run(accept_nowhere);
}

static void shortened_run(const void *data)
{
	(void)data;
	accepts_run(accept_shortened);
}

/* What is wrong with these calls is found before anybody looks at the address. */
static void unread_run(const void *data)
{
	(void)data;
	workload_ready();
	for (;;) {
		/* NOLINTBEGIN: an address that is not there */
		if (!connect(-1, (const struct sockaddr *)8, sizeof(struct sockaddr_un)) ||
		    errno != EBADF)
			workload_corrupt("errno of connect");
		if (open((const char *)8, O_TMPFILE | O_RDONLY) >= 0 || errno != EINVAL)
			workload_corrupt("errno of open");
		if (fopen((const char *)8, "?") || errno != EINVAL)
			workload_corrupt("errno of fopen");
		/* NOLINTEND */
		usleep(1000);
		workload_turn();
	}
}

#define SMALL_BYTES  200
#define LARGE_BYTES  40000
#define SMALL_BLOCKS 100000
#define LARGE_BLOCKS 2000
#define SITE         __attribute__((noipa, optimize("no-omit-frame-pointer")))

/* The compiler would jump to malloc, and nobody would see who called it. */
#define NOT_LAST __asm__ volatile("" ::: "memory")

SITE static void *allocate_small(void)
{
	void *memory = malloc(SMALL_BYTES);

	NOT_LAST;
	return memory;
}

SITE static void *allocate_other(void)
{
	void *memory = malloc(SMALL_BYTES);

	NOT_LAST;
	return memory;
}

SITE static void *allocate_large(void)
{
	void *memory = realloc(malloc(1), LARGE_BYTES);

	NOT_LAST;
	return memory;
}

/* A known number of blocks from three places, when SIGUSR1 asks, two of them in turn; half of the
 * small ones from the first place are given back. */
SITE static void sites_run(const void *data)
{
	struct sigaction action = { .sa_handler = on_ask, .sa_flags = SA_RESTART };

	(void)data;
	sigaction(SIGUSR1, &action, NULL);
	workload_ready();
	await_ask();
	for (int i = 0; i < SMALL_BLOCKS; i++) {
		void *small = allocate_small();

		taken = allocate_other();
		if (i % 2)
			free(small);
		if (i % (SMALL_BLOCKS / LARGE_BLOCKS) == 0)
			taken = allocate_large();
		if (i % 1000 == 0)
			usleep(100);
	}
	stats->signals_received = 1; /* a place for the driver to see it */
	workload_idle();
}

__attribute__((format(printf, 2, 3))) static void print_to(FILE *file, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
}

static void write_stream(const char *path)
{
	char bytes[70] = "seventy bytes\nand a line of its own\n";
	FILE *file = fopen(path, "we");

	if (!file || fwrite(bytes, 10, 7, file) != 7 || fputs("twelve chars\n", file) < 0)
		workload_fail("fwrite");
	print_to(file, "%d and %s\n", 42, "more");
	if (fclose(file))
		workload_fail("fclose");
}

static void read_stream(const char *path)
{
	char bytes[64], *line = NULL;
	size_t room = 0;
	FILE *file = fopen(path, "re");

	if (!file || !fgets(bytes, sizeof(bytes), file) || fread(bytes, 8, 7, file) != 7)
		workload_fail("fread");
	if (getline(&line, &room, file) != 13 || getdelim(&line, &room, ' ', file) != 3)
		workload_fail("getline");
	/* Less is there than is asked for. */
	if (fread(bytes, 3, 20, file) != 3 || fclose(file))
		workload_fail("fread at the end");
	free(line);
}

/* The same bytes through stdio each turn. */
static void stdio_run(const void *data)
{
	char path[] = "/tmp/limpet-stdio.XXXXXX";
	int fd = mkstemp(path);

	(void)data;
	if (fd < 0 || close(fd))
		workload_skip("mkstemp");
	workload_ready();
	if (!freopen("/dev/null", "we", stdout))
		workload_fail("freopen");
	for (;;) {
		write_stream(path);
		read_stream(path);
		puts("nine more");
		fflush(NULL);
		usleep(1000);
		workload_turn();
	}
}

const struct workload workloads[] = {
	{ "sites", sites_run, NULL },         { "stdio", stdio_run, NULL },
	{ "longjmp", longjmp_run, NULL },     { "siglongjmp", siglongjmp_run, NULL },
	{ "cancel", cancel_run, NULL },       { "fork", fork_run, NULL },
	{ "handler", handler_run, NULL },     { "altstack", altstack_run, NULL },
	{ "late", late_run, NULL },           { "foreign", foreign_run, NULL },
	{ "blocked", blocked_run, NULL },     { "parked", parked_run, NULL },
	{ "locks", locks_run, NULL },         { "files", files_run, NULL },
	{ "unread", unread_run, NULL },       { "nowhere", nowhere_run, NULL },
	{ "shortened", shortened_run, NULL }, { NULL, NULL, NULL },
};
