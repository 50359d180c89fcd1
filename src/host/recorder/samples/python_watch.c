/*
 * Reads Python interpreters from outside; stops nothing.
 */
#include "host/recorder/samples/sample_writer.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/sorted.h"
#include "host/core/text/text.h"
#include "host/interpreter/interpreter.h"
#include "host/process/procfs.h"
#include "host/process/status.h"
#include "host/process/threads.h"
#include "host/recorder/dump/waiting.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PYTHONS_MAX 64u /* processes of a family whose locks are polled */
#define LOOKED_MAX  64u /* threads of a process in each round */
#define THREADS_MAX 4096u
#define NAMED_EACH  40u /* rounds */

struct watched_python {
	pid_t pid;
	struct interpreter *python; /* NULL: it cannot be read */
	uint64_t looks;
};

struct python_watch {
	struct watched_python pythons[PYTHONS_MAX];
	size_t python_count;
	pthread_mutex_t lock;           /* guards what follows */
	struct watched_thread *threads; /* ascending tids */
	size_t thread_count, thread_room;
};

struct python_watch *python_watch_new(void)
{
	struct python_watch *self = calloc(1, sizeof(*self));

	if (self)
		pthread_mutex_init(&self->lock, NULL);
	return self;
}

void python_watch_free(struct python_watch *self)
{
	if (!self)
		return;
	for (size_t i = 0; i < self->python_count; i++)
		interpreter_close(self->pythons[i].python);
	pthread_mutex_destroy(&self->lock);
	free(self->threads);
	free(self);
}

static struct watched_python *find_python(struct python_watch *self, pid_t pid)
{
	for (size_t i = 0; i < self->python_count; i++)
		if (self->pythons[i].pid == pid)
			return &self->pythons[i];
	return NULL;
}

void python_watch_forget(struct python_watch *self, pid_t pid)
{
	struct watched_python *python = find_python(self, pid);

	if (!python)
		return;
	interpreter_close(python->python);
	*python = self->pythons[--self->python_count];
}

bool python_watch_knows(struct python_watch *watch, pid_t pid)
{
	return find_python(watch, pid);
}

void python_watch_sample(struct python_watch *self, const struct sample *sample,
			 const struct space *space)
{
	struct watched_python *python;
	struct err ignored = { 0 };

	if (self->python_count == PYTHONS_MAX || find_python(self, (pid_t)sample->pid) ||
	    !sample_has_interpreted(sample))
		return;
	python = &self->pythons[self->python_count++];
	*python = (struct watched_python){ .pid = (pid_t)sample->pid };
	if (interpreter_open(&python->python, space, python->pid, READER_OUTSIDE, &ignored))
		python->python = NULL;
}

static uint64_t tid_at(const void *items, size_t index)
{
	return (uint64_t)((const struct watched_thread *)items)[index].tid;
}

/* Finds or adds; NULL: no room.  The caller holds the lock. */
static struct watched_thread *thread_of(struct python_watch *self, pid_t pid, pid_t tid)
{
	struct watched_thread *thread;
	size_t index;

	if (find_sorted(self->threads, self->thread_count, (uint64_t)tid, tid_at, &index))
		return self->threads[index].pid == pid ? &self->threads[index] : NULL;
	if (self->thread_count == THREADS_MAX ||
	    make_room(&self->threads, self->thread_count, &self->thread_room, sizeof(*thread)))
		return NULL;
	thread = &self->threads[index];
	memmove(thread + 1, thread, (self->thread_count - index) * sizeof(*thread));
	*thread = (struct watched_thread){ .pid = pid, .tid = tid };
	self->thread_count++;
	return thread;
}

static void thread_poll(struct python_watch *self, const struct watched_python *python,
			const struct interpreter_lock *gil, pid_t tid)
{
	uint64_t futex = waiting_futex(python->pid, tid);
	bool is_waiting = futex >= gil->start && futex < gil->end;
	bool is_holder = gil->holder && inner_number(python->pid, tid) == gil->holder;
	struct watched_thread *thread;

	pthread_mutex_lock(&self->lock);
	thread = thread_of(self, python->pid, tid);
	if (thread) {
		thread->looks = python->looks + 1;
		thread->held += is_holder;
		thread->waited += is_waiting && !is_holder;
	}
	pthread_mutex_unlock(&self->lock);
}

/* Names are read also where the interpreter's lock was not found. */
static void python_poll(struct python_watch *self, struct watched_python *python)
{
	CLEANUP(free) pid_t *tids = NULL;
	struct interpreter_lock gil;
	char name[64];
	size_t count = 0;
	bool has_gil;

	if (!python->python || proc_list(python->pid, "task", &tids, &count, NULL))
		return;
	has_gil = interpreter_threads(python->python)->read_lock(python->python, &gil);
	for (size_t i = 0; i < MIN(count, LOOKED_MAX); i++) {
		if (python->looks % NAMED_EACH == 0) /* about once a second */
			(void)!python_watch_name(self, python->pid, tids[i], name, sizeof(name));
		if (has_gil)
			thread_poll(self, python, &gil, tids[i]);
	}
	python->looks++;
}

void python_watch_poll(struct python_watch *self)
{
	for (size_t i = 0; i < self->python_count; i++)
		python_poll(self, &self->pythons[i]);
}

/* "Thread-1 (serve)": Python's default, the program gave no name. */
static bool is_made_up(const char *name)
{
	return !strncmp(name, "Thread-", 7) && name[7] >= '0' && name[7] <= '9';
}

/* A kernel name that the program set: threads inherit that of their process.  Newer Pythons set the
 * kernel's name from their own, cut. */
static bool has_kernel_name(pid_t pid, pid_t tid, const char *python_name)
{
	char own[32] = "", first[32] = "";

	thread_read_name(pid, tid, own, sizeof(own));
	thread_read_name(pid, pid, first, sizeof(first));
	return own[0] && strcmp(own, first) != 0 && strncmp(python_name, own, strlen(own)) != 0;
}

bool python_watch_name(struct python_watch *self, pid_t pid, pid_t tid, char *ret, size_t room)
{
	const struct watched_python *python = find_python(self, pid);
	struct watched_thread *thread;
	bool is_own;

	if (!python || !python->python ||
	    !interpreter_threads(python->python)
		     ->read_name(python->python, inner_number(pid, tid), ret, room))
		return false;
	is_own = !is_made_up(ret) || !has_kernel_name(pid, tid, ret);
	pthread_mutex_lock(&self->lock);
	thread = thread_of(self, pid, tid);
	if (thread)
		text_copy(text_of(is_own ? ret : ""), thread->name, sizeof(thread->name));
	pthread_mutex_unlock(&self->lock);
	return is_own;
}

bool python_watch_find(struct python_watch *self, pid_t pid, pid_t tid, struct watched_thread *ret)
{
	size_t index;
	bool is_known;

	pthread_mutex_lock(&self->lock);
	is_known = find_sorted(self->threads, self->thread_count, (uint64_t)tid, tid_at, &index) &&
		   self->threads[index].pid == pid;
	if (is_known)
		*ret = self->threads[index];
	pthread_mutex_unlock(&self->lock);
	return is_known;
}
