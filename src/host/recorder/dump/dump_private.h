/*
 * What the files of a dump share: dump_threads.c keeps the threads, dump_read.c reads them from
 * outside, dump.c chooses the sampler and names the frames.
 */
#pragma once

#include "host/recorder/dump/dump.h"
#include "host/unwind/space.h"

/* Lists the threads anew, just before their stacks are read; drops what was known. */
int dump_list(struct dump *dump, struct err *err) MUST_CHECK;
void dump_forget_threads(struct dump *dump);
/* NULL: it was not in the list. */
struct dumped_thread *dump_thread_of(struct dump *dump, uint32_t tid);
/* Keeps the stack of a thread that has none, or only a part of it.  0 or -ENOMEM. */
int dump_keep(struct dump *dump, const struct sample *sample, const struct space *space) MUST_CHECK;
/* Keeps the state in which the stack was read. */
void dump_note_state(struct dump *dump, const struct sample *sample);
/* Adds a line to the reasons. */
void dump_note(struct dump *dump, const char *format, ...) PRINTF_LIKE(2, 3);
/* Reads what the thread waits for; before its stack is read. */
void dump_read_wait(const struct dump *dump, struct dumped_thread *thread);
/* Afterwards: drops what it waits for if it has run in between. */
void dump_settle_wait(const struct dump *dump, struct dumped_thread *thread);

/* The sampler `read`. */
int dump_by_reading(struct dump *dump, bool with_kernel, struct err *err) MUST_CHECK;
