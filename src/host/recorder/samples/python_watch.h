/*
 * What the Pythons that are sampled tell of their threads: names, and who has the interpreter's
 * lock (the GIL) or waits for it.  The sampler's thread looks, any thread may ask.
 */
#pragma once

#include "host/core/err.h"
#include "host/unwind/space.h"
#include "shared/wire/sample.h"

struct python_watch;

struct watched_thread {
	pid_t pid, tid;
	char name[64];         /* "": it has none of its own */
	uint64_t looks;        /* at the lock, since the process is known */
	uint64_t held, waited; /* so many of them */
};

/* NULL: no memory. */
struct python_watch *python_watch_new(void);
void python_watch_free(struct python_watch *watch);

/* Of the sampler's thread.  A sample: its process is known from the first one with Python frames
 * on. */
void python_watch_sample(struct python_watch *watch, const struct sample *sample,
			 const struct space *space);
/* The process runs another program now, or is new. */
void python_watch_forget(struct python_watch *watch, pid_t pid);
bool python_watch_knows(struct python_watch *watch, pid_t pid);
/* Looks at the locks; some forty times a second. */
void python_watch_look(struct python_watch *watch);
/* Reads what a thread is called now.  False: it has no name of its own. */
bool python_watch_name(struct python_watch *watch, pid_t pid, pid_t tid, char *ret, size_t room);

/* What is known of a thread; false: nothing. */
bool python_watch_find(struct python_watch *watch, pid_t pid, pid_t tid,
		       struct watched_thread *ret);
