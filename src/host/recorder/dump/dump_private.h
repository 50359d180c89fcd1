/*
 * What the files of a dump share: dump.c lists threads, gets stacks and names them, dump_read.c
 * reads threads from outside.
 */
#pragma once

#include "host/recorder/dump/dump.h"
#include "host/unwind/space.h"

/* Lists the threads anew, just before their stacks are read; drops what was known. */
int dump_list(struct dump *dump, pid_t pid, struct err *err) MUST_CHECK;
/* NULL: it was not in the list. */
struct dumped_thread *dump_thread_of(struct dump *dump, uint32_t tid);
/* Keeps the stack of a thread that has none, or only a part of it.  0 or -ENOMEM. */
int dump_keep(struct dump *dump, const struct sample *sample, const struct space *space) MUST_CHECK;
/* Keeps the state in which the stack was read. */
void dump_note_state(struct dump *dump, const struct sample *sample);
void dump_note_limit(struct dump *dump, const char *what);
/* Reads what the thread waits for; before its stack is read. */
void dump_look_at_wait(struct dump *dump, pid_t pid, struct dumped_thread *thread);
/* Afterwards: drops what it waits for if it has run in between. */
void dump_settle_wait(pid_t pid, struct dumped_thread *thread);

/* The sampler `read`. */
int dump_by_reading(struct dump *dump, pid_t pid, const struct dump_options *options,
		    struct err *err) MUST_CHECK;
