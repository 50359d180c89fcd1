/*
 * Thread names of sampled Pythons, and how often each thread holds the interpreter's lock (the GIL)
 * or waits for it.  The sampler's thread polls, any thread may query.
 */
#pragma once

#include "host/core/err.h"
#include "host/unwind/space.h"
#include "shared/wire/sample.h"

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
void python_watch_look(struct python_watch *watch);
/* Reads a thread's current name.  False: it has none of its own. */
bool python_watch_name(struct python_watch *watch, pid_t pid, pid_t tid, char *ret, size_t room);

/* What is known of a thread; false: nothing. */
bool python_watch_find(struct python_watch *watch, pid_t pid, pid_t tid,
		       struct watched_thread *ret);
