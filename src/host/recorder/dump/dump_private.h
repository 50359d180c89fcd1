/*
 * What the files of a dump share: dump.c lists, takes and names, dump_read.c reads threads from
 * outside.
 */
#pragma once

#include "host/recorder/dump/dump.h"
#include "host/unwind/space.h"

/* Lists the threads anew, just before their stacks are taken; what was known is forgotten. */
int dump_list(struct dump *dump, pid_t pid, struct err *err) MUST_CHECK;
/* NULL: it was not there when they were listed. */
struct dumped_thread *dump_thread_of(struct dump *dump, uint32_t tid);
/* The stack of a thread that has none, or only a part of it.  0 or -ENOMEM. */
int dump_keep(struct dump *dump, const struct sample *sample, const struct space *space) MUST_CHECK;
/* The state in which the stack was taken. */
void dump_note_state(struct dump *dump, const struct sample *sample);
void dump_note_limit(struct dump *dump, const char *what);
/* What the thread waits for; before its stack is taken. */
void dump_look_at_wait(struct dump *dump, pid_t pid, struct dumped_thread *thread);
/* After that: what it waits for stays only where it did not run in between. */
void dump_settle_wait(pid_t pid, struct dumped_thread *thread);

/* The way `read`. */
int dump_by_reading(struct dump *dump, pid_t pid, const struct dump_options *options,
		    struct err *err) MUST_CHECK;
