/*
 * Twenty-four threads that do what programs do, for ever, in constant memory: allocate, move data
 * through pipes, sockets and files, wait for locks, call a library, come and go, fork, take
 * signals.  Each checks its own results.
 *
 * The calls of eight of them are numbered: turn N writes N bytes to nowhere, and makes the same
 * other calls each time.  So whoever traces them can tell from what he has seen what he has not.
 * The turns that each has ended lie in a file beside the statistics, for a driver to read.
 */
#define _GNU_SOURCE
#include "numbered.h"
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BURST         40
#define PAUSE_US      40000
#define MESSAGES      16
#define FILE_BYTES    8192
#define CHILD_RESULT  42
#define SIGNALLED     2
#define SHORT_THREADS 4

static char nothing[64];
static int nowhere = -1;
static _Atomic uint64_t *turns_done; /* NUMBERED_THREADS words */

static void keep_signals_out(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

/* A call that went well leaves errno alone. */
static void check_errno(int expected, const char *what)
{
	if (errno != expected)
		workload_corrupt(what);
}

/* NOLINTNEXTLINE: the device takes any number of bytes and looks at none. */
static void move_number(uint64_t number)
{
	int mark = (int)(number % 100) + 1;

	errno = mark;
	if (write(nowhere, nothing, number) != (ssize_t)number)
		workload_fail("write to nowhere");
	check_errno(mark, "errno of write");
	if (read(nowhere, nothing, number) != 0)
		workload_fail("read from nowhere");
	check_errno(mark, "errno of read");
}

static void allocate_number(uint64_t number)
{
	size_t size = 16 + number % 500;
	char *volatile block = malloc(size);
	unsigned *volatile zeros;

	memset(block, (int)number, size);
	block = realloc(block, size + 600);
	if (!block || block[0] != (char)number || block[size - 1] != (char)number)
		workload_corrupt("what realloc keeps");
	free(block);
	zeros = calloc(1, 24 + number % 100);
	if (!zeros || zeros[0] || zeros[5])
		workload_corrupt("what calloc gives");
	free(zeros);
}

static void turn_number(uint64_t number, pthread_mutex_t *own)
{
	move_number(number);
	allocate_number(number);
	if (numbered_step(number) != number * NUMBERED_FACTOR + 1)
		workload_corrupt("the result of a library");
	pthread_mutex_lock(own);
	pthread_mutex_unlock(own);
}

static void *count(void *argument)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	uint64_t index = (uint64_t)argument, number = 1;
	char name[16];

	keep_signals_out();
	snprintf(name, sizeof(name), "numbered-%u", (unsigned)index);
	pthread_setname_np(pthread_self(), name);
	for (;; usleep(PAUSE_US))
		for (int i = 0; i < BURST; i++, number++) {
			turn_number(number, &own);
			turns_done[index] = number;
		}
	return NULL;
}

/* Two ends, and how to use them. */
struct line {
	int ends[2];
	ssize_t (*put)(int, const void *, size_t);
	ssize_t (*get)(int, void *, size_t);
};

static ssize_t put_by_send(int fd, const void *bytes, size_t size)
{
	return send(fd, bytes, size, MSG_NOSIGNAL);
}

static ssize_t get_by_recv(int fd, void *bytes, size_t size)
{
	return recv(fd, bytes, size, 0);
}

static struct line lines[] = {
	{ { -1, -1 }, write, read },
	{ { -1, -1 }, put_by_send, get_by_recv },
};

static void *say(void *argument)
{
	struct line *line = argument;

	keep_signals_out();
	for (uint64_t number = 0;; number++) {
		if (line->put(line->ends[1], &number, sizeof(number)) != sizeof(number))
			workload_fail("send");
		if (number % MESSAGES == 0)
			usleep(PAUSE_US / 4);
	}
	return NULL;
}

static void *hear(void *argument)
{
	struct line *line = argument;
	uint64_t heard;

	keep_signals_out();
	for (uint64_t number = 0;; number++)
		if (line->get(line->ends[0], &heard, sizeof(heard)) != sizeof(heard))
			workload_fail("receive");
		else if (heard != number)
			workload_corrupt("a message");
	return NULL;
}

static void *use_file(void *path)
{
	char written[FILE_BYTES], seen[FILE_BYTES];

	keep_signals_out();
	for (unsigned turn = 0;; turn++, usleep(PAUSE_US / 2)) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

		memset(written, (int)turn, sizeof(written));
		if (fd < 0 || pwrite(fd, written, sizeof(written), 0) != FILE_BYTES ||
		    pread(fd, seen, sizeof(seen), 0) != FILE_BYTES || close(fd))
			workload_fail("file");
		if (memcmp(written, seen, sizeof(seen)))
			workload_corrupt("a file");
		if (open("/nonexistent/file", O_RDONLY) >= 0 || errno != ENOENT)
			workload_corrupt("errno of open");
	}
	return NULL;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t tickets;
static uint64_t ball;              /* whose turn it is, under the mutex */
static volatile uint64_t twins[2]; /* equal, under the rwlock */
static _Atomic uint64_t ticket_holders;

static void play_ball(uint64_t player)
{
	pthread_mutex_lock(&mutex);
	while (ball % 2 != player)
		pthread_cond_wait(&changed, &mutex);
	ball++;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
}

static void visit_twins(bool changes)
{
	if (changes) {
		pthread_rwlock_wrlock(&rwlock);
		twins[0]++;
		usleep(50);
		twins[1]++;
	} else {
		pthread_rwlock_rdlock(&rwlock);
	}
	if (twins[0] != twins[1])
		workload_corrupt("what a lock protects");
	pthread_rwlock_unlock(&rwlock);
}

static void hold_ticket(void)
{
	if (sem_wait(&tickets))
		workload_fail("sem_wait");
	if (++ticket_holders > 1)
		workload_corrupt("more holders than tickets");
	usleep(20);
	ticket_holders--;
	sem_post(&tickets);
}

static void *contend(void *argument)
{
	uint64_t index = (uint64_t)argument;

	keep_signals_out();
	for (;; usleep(PAUSE_US / 8)) {
		if (index < 2)
			play_ball(index);
		visit_twins(index == 3);
		hold_ticket();
	}
	return NULL;
}

static void *use_mappings(void *argument)
{
	size_t size = 65536 * (1 + (size_t)argument);

	keep_signals_out();
	for (;; usleep(PAUSE_US / 4)) {
		char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);

		if (memory == MAP_FAILED || memory[0] || memory[size - 1]) {
			workload_fail("mmap");
			continue;
		}
		memory[0] = memory[size - 1] = 1;
		if (munmap(memory, size))
			workload_fail("munmap");
	}
	return NULL;
}

static void *live_shortly(void *argument)
{
	allocate_number((uint64_t)argument);
	return (void *)numbered_step((uint64_t)argument);
}

static void *start_threads(void *unused)
{
	pthread_t made[SHORT_THREADS];
	void *result;

	(void)unused;
	keep_signals_out();
	for (uint64_t number = 0;; usleep(PAUSE_US), number++) {
		for (unsigned i = 0; i < SHORT_THREADS; i++)
			if (pthread_create(&made[i], NULL, live_shortly, (void *)(number + i)))
				workload_fail("pthread_create");
		for (unsigned i = 0; i < SHORT_THREADS; i++)
			if (pthread_join(made[i], &result) ||
			    (uint64_t)result != (number + i) * NUMBERED_FACTOR + 1)
				workload_corrupt("the result of a thread");
	}
	return NULL;
}

static void *start_children(void *unused)
{
	(void)unused;
	keep_signals_out();
	for (;; usleep(3 * PAUSE_US)) {
		pid_t child = fork();
		int status = 0;

		if (!child) {
			move_number(7);
			_exit(CHILD_RESULT);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != CHILD_RESULT)
			workload_fail("a child");
	}
	return NULL;
}

/* Makes traced calls that a handler may make. */
static void on_signal(int number)
{
	int saved = errno;
	void *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)number;
	if (memory == MAP_FAILED || munmap(memory, 4096) || write(nowhere, nothing, 1) != 1)
		workload_fail("a handler");
	stats->signals_received++;
	errno = saved;
}

static void *take_signals(void *argument)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	(void)argument;
	for (uint64_t number = 1;; number++) {
		turn_number(number, &own);
		if (number % BURST == 0)
			sleep_ns(PAUSE_US * 1000); /* a signal does not end it */
	}
	return NULL;
}

static void map_turns(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0 || ftruncate(fd, 4096))
		workload_skip(path);
	turns_done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (turns_done == MAP_FAILED)
		workload_skip(path);
	close(fd);
}

static void open_lines(void)
{
	if (pipe2(lines[0].ends, O_CLOEXEC) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lines[1].ends))
		workload_skip("pipe");
	nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nowhere < 0 || sem_init(&tickets, 0, 1))
		workload_skip("/dev/null");
}

static const char *beside(const char *ending)
{
	static char path[2][PATH_MAX];
	char *into = path[ending[1] == 't'];

	snprintf(into, PATH_MAX, "%s%s", workload_argv[2], ending);
	return into;
}

static void start_all(void)
{
	for (uint64_t i = 0; i < NUMBERED_THREADS; i++)
		thread_start(count, (void *)i, 0);
	for (unsigned i = 0; i < 2; i++) {
		thread_start(say, &lines[i], 0);
		thread_start(hear, &lines[i], 0);
		thread_start(use_mappings, (void *)(uint64_t)i, 0);
	}
	for (uint64_t i = 0; i < 4; i++)
		thread_start(contend, (void *)i, 0);
	thread_start(use_file, (void *)(uintptr_t)beside(".file"), 0);
	thread_start(start_threads, NULL, 0);
	thread_start(start_children, NULL, 0);
}

static void run(const void *data)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t signalled[SIGNALLED];

	(void)data;
	mallopt(M_ARENA_MAX, 2);
	map_turns(beside(".turns"));
	open_lines();
	sigaction(SIGUSR1, &action, NULL);
	for (unsigned i = 0; i < SIGNALLED; i++)
		if (pthread_create(&signalled[i], NULL, take_signals, NULL))
			workload_skip("pthread_create");
	start_all();
	workload_ready();
	for (;; usleep(1000), workload_turn())
		for (unsigned i = 0; i < SIGNALLED; i++, stats->signals_sent++)
			pthread_kill(signalled[i], SIGUSR1);
}

const struct workload workloads[] = {
	{ "all", run, NULL },
	{ NULL, NULL, NULL },
};
