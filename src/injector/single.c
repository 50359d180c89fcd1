/*
 * A process becomes single-threaded again. limpet's first pthread_create ended libc's mode without
 * locks, and libc never returns to it by itself. When the stopped thread is alone again, libc's
 * words are restored to their values before the attach. The thread must not be in the allocator,
 * which checks twice for other threads, nor in pthread_create, which has checked; and its thread
 * pointer must lead to glibc's block: a program that has set it to memory of its own keeps other
 * words there. All other libc functions release their locks the same way in both modes.
 *
 * Death at any point leaves a valid state: each word only says that fewer locks are needed, and
 * FILEs are changed after the word that makes a later pthread_create change them again. The mark in
 * the thread's own block is cleared last: until then the next attach finds what is left to do.
 */
#include "injector/injector.h"

#include <errno.h>
#include <string.h>

#define STACK_BYTES     0x8000ull
#define FLAGS_FIELD     7 /* in /proc's stat, counted from the name's closing parenthesis */
#define THREADS_FIELD   18
#define FILES_MAX       512u        /* each takes 2 us of the stop; the others keep their locks */
#define FILE_MAGIC      0xfbad0000u /* of a FILE: public, and the same in every glibc */
#define FILE_NEXT       0x68
#define FILE_FLAGS      0x74
#define FILE_BYTES      0xe0
#define FILE_NEEDS_LOCK 0x80u

static bool is_programs(const struct job *job, int tid)
{
	return !(thread_stat(job, tid, FLAGS_FIELD) & job->worker_flags);
}

/* Without the kernel's own threads, which come and go; no other thread can while the only one that
 * runs the program is stopped. */
static long thread_count(const struct job *job)
{
	long count = thread_stat(job, job->tid, THREADS_FIELD);

	return count == 1 || !job->worker_flags ? count : threads_count(job, is_programs);
}

static bool is_word(const struct stopped *self, uint64_t address, uint32_t expected)
{
	uint32_t word;

	return !memory_read(self, address, &word, sizeof(word)) && word == expected;
}

static bool is_alone(const struct stopped *self)
{
	const struct job *job = self->job;

	return thread_count(job) == 1 && (!job->facts.single.thread_count ||
					  is_word(self, job->facts.single.thread_count, 1));
}

static void change_word(const struct stopped *self, uint64_t address, uint32_t from, uint32_t to)
{
	if (is_word(self, address, from) && memory_write(self, address, &to, sizeof(to)))
		self->job->error = EIO;
}

/* Returns the next one; 0: this is no FILE, or the last. */
static uint64_t file_unlock(const struct stopped *self, uint64_t address)
{
	unsigned char file[FILE_BYTES];
	uint32_t magic, flags;
	uint64_t next, calls;

	if (memory_read(self, address, file, sizeof(file)))
		return 0;
	memcpy(&magic, file, sizeof(magic));
	memcpy(&next, file + FILE_NEXT, sizeof(next));
	memcpy(&flags, file + FILE_FLAGS, sizeof(flags));
	memcpy(&calls, file + FILE_CALLS, sizeof(calls));
	if ((magic & 0xffff0000u) != FILE_MAGIC)
		return 0;
	/* FILEs of fmemopen or fopencookie have the flag from the start. */
	if (flags & FILE_NEEDS_LOCK && calls == self->job->facts.single.file_calls)
		change_word(self, address + FILE_FLAGS, flags, flags & ~FILE_NEEDS_LOCK);
	return next;
}

static void files_unlock(const struct stopped *self)
{
	const struct job_single *single = &self->job->facts.single;
	uint64_t file;

	if (!single->stdio || !single->files ||
	    memory_read(self, single->files, &file, sizeof(file)))
		return;
	change_word(self, single->stdio, 1, 0);
	if (!is_word(self, single->stdio,
		     0)) /* else no pthread_create would set their flags again */
		return;
	for (unsigned i = 0; file && i < FILES_MAX; i++)
		file = file_unlock(self, file);
}

static void mark_single(const struct stopped *self)
{
	const struct job *job = self->job;
	const unsigned char yes = 1;
	const uint32_t none = 0;

	for (size_t i = 0; i < ARRAY_SIZE(job->facts.single.common); i++)
		if (job->facts.single.common[i] &&
		    memory_write(self, job->facts.single.common[i], &yes, sizeof(yes)))
			self->job->error = EIO;
	/* The mark, or pthread_create's value in its place. */
	if (job->facts.has_flag_in_block &&
	    memory_write(self, flag_address(self), &none, sizeof(none)))
		self->job->error = EIO;
}

void single_restore(struct stopped *self)
{
	struct job *job = self->job;

	if (!same_program(self)) {
		job_fail(job, JOB_GONE, ESTALE);
	} else if (!is_alone(self) || !block_is_understood(self) || heap_may_be_entered(self) ||
		   !job->facts.create.end ||
		   thread_may_be_inside(self, job->facts.create, STACK_BYTES)) {
		job_fail(job, JOB_LEAVE_ALONE, 0);
	} else {
		job->status = JOB_DONE;
		files_unlock(self);
		mark_single(self);
	}
}
