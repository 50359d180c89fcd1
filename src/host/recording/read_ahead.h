/*
 * Reads a recording on a thread of its own, a few chunks ahead of the consumer: checking, unpacking
 * and decoding of samples then run in parallel with the consumer's work.
 */
#pragma once

#include "host/recording/reader.h"

struct read_ahead;

/* Smaller files are not worth a thread. */
#define READ_AHEAD_LEAST ((uint64_t)4 << 20)

/* The reader is the thread's until the end.  NULL: there is no thread or memory; read without. */
struct read_ahead *read_ahead_start(struct recording_reader *reader);
/* As reader_next(). */
int read_ahead_next(struct read_ahead *ahead, struct chunk *ret);
/* Also before the last chunk. */
void read_ahead_stop(struct read_ahead *ahead);
