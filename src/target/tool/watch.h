/*
 * A thread of limpet's that notices modules loaded while calls are traced.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/hooks/got/got.h"

/* Returns after the first scan; -errno if no thread could be created. on_scan gets each scan's
 * report; on_poll runs on the same thread, before the first scan and at each poll; tick as
 * requested (runtime.h). */
struct watch_calls {
	void (*on_scan)(const struct hooks_report *);
	void (*on_poll)(bool have_modules_changed);
	uint64_t (*tick)(uint64_t now_ns); /* may be NULL */
};
int watch_start(const struct boot_libc *libc, const struct watch_calls *calls) MUST_CHECK;
void watch_stop(void);

/* True on the watching thread. */
bool watch_is_thread(void);

/* In a forked child: the thread was the parent's. */
void watch_forget(void);

/* Makes the thread poll soon, because a module is about to be loaded. On any thread. */
void watch_hurry(void);

/* On any thread: returns when the thread has polled since, or after a timeout, because it may need
 * a lock that the caller holds. After a timeout, no caller waits until the thread has answered. */
void watch_consult(void);
/* On the watching thread, in on_poll: orders so far are done. */
void watch_answer(void);
