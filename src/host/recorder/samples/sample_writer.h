/*
 * Samples on their way into a recording: each module, frame and stack is written once, at its first
 * use.  One thread at a time.
 */
#pragma once

#include "host/recorder/base/programs.h"
#include "host/unwind/space.h"
#include "shared/wire/sample.h"

/* Thread names of sampled Pythons, and how often each thread holds the interpreter's lock (the GIL)
 * or waits for it.  The sampler's thread polls, any thread may query. */
struct python_watch;

struct watched_thread {
	pid_t pid, tid;
	char name[64];         /* "": Python has none of its own */
	uint64_t looks;        /* polls of the lock since the process is known */
	uint64_t held, waited; /* in so many of them */
};

/* NULL: no memory. */
struct python_watch *python_watch_new(void);
void python_watch_free(struct python_watch *watch);

/* For the sampler's thread.  A process is known from its first sample with Python frames on. */
void python_watch_sample(struct python_watch *watch, const struct sample *sample,
			 const struct space *space);
/* The process runs another program now, or is new. */
void python_watch_forget(struct python_watch *watch, pid_t pid);
bool python_watch_knows(struct python_watch *watch, pid_t pid);
/* Polls the locks; about forty times a second. */
void python_watch_poll(struct python_watch *watch);
/* Reads a thread's current name.  False: it has none of its own. */
bool python_watch_name(struct python_watch *watch, pid_t pid, pid_t tid, char *ret, size_t room);

/* What is known of a thread; false: nothing. */
bool python_watch_find(struct python_watch *watch, pid_t pid, pid_t tid,
		       struct watched_thread *ret);

struct sample_writer;

/* For the processes of these programs and for their descendants.  The watch has names of threads
 * and the locks of their interpreter. */
int sample_writer_new(struct sample_writer **ret, struct programs *programs,
		      struct python_watch *watch, struct err *err) MUST_CHECK;
void sample_writer_free(struct sample_writer *writer);

/* space: that of the process at the time of the sample. */
int sample_writer_add(struct sample_writer *writer, const struct sample *sample,
		      const struct space *space, struct err *err) MUST_CHECK;

/* After a fork or an exec: later samples with this pid belong to another process. */
int sample_writer_process(struct sample_writer *writer, const struct sampled_process *process,
			  struct err *err) MUST_CHECK;

/* Writes what is not in the file yet. */
int sample_writer_flush(struct sample_writer *writer, struct err *err) MUST_CHECK;

/* Now and then, while the processes live: reads names of threads, and finds the files in which
 * runtimes name their code. */
int sample_writer_refresh(struct sample_writer *writer, struct err *err) MUST_CHECK;

/* Writes how often each thread held its interpreter's lock so far. */
int sample_writer_locks(struct sample_writer *writer, struct err *err) MUST_CHECK;

/* The processes that the sampler reported, and those of them, and the threads, that had a
 * sample. */
void sample_writer_count(const struct sample_writer *writer, uint64_t *ret_seen,
			 uint64_t *ret_sampled, uint64_t *ret_threads);
