/*
 * A thread of ours that notices modules which the program loads while we trace.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/hooks/got/got.h"

#include <pthread.h>

struct watch_libc {
	const struct boot_libc *all;
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	int (*join)(pthread_t, void **);
	int (*attr_init)(pthread_attr_t *);
	int (*attr_setstack)(pthread_attr_t *, void *, size_t);
};

/* Returns when the first scan is done; -errno when no thread could be made.  on_scan gets what each
 * scan did; look is called on the same thread: before the first scan, and whenever it looks around;
 * tick as often as it says (runtime.h). */
struct watch_calls {
	void (*on_scan)(const struct got_report *);
	void (*look)(bool have_modules_changed);
	uint64_t (*tick)(uint64_t now_ns); /* may be NULL */
};
int watch_start(const struct watch_libc *libc, const struct watch_calls *calls) MUST_CHECK;
void watch_stop(void);

/* Is the calling thread that one? */
bool watch_is_thread(void);

/* In a forked child: the thread was our parent's. */
void watch_forget(void);

/* Look soon: a module is about to come.  On any thread. */
void watch_hurry(void);

/* On any thread: returns when the thread has looked around since, or after a while; it may need a
 * lock that the caller holds.  Then nobody waits any more before it has come out. */
void watch_consult(void);
/* On the watching thread, in look: what was asked for up to now is done. */
void watch_answer(void);
