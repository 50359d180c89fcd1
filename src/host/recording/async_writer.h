/*
 * Writes the bytes of a recording to its file.  A disk may take seconds for one write; the thread
 * that empties rings cannot wait so long.  So the bytes are copied, and a thread of its own writes
 * them, in order.
 */
#pragma once

#include <stdint.h>

#include "host/core/bytes.h"
#include "host/core/output/output_file.h"
#include "host/recording/facts.h"

struct async_writer;

struct part {
	const void *bytes;
	size_t size;
};

/* Owns the file, also when this fails, and writes `first`; the path is for messages.  The file gets
 * its name with the first piece that has records, samples or windows.  When it cannot grow any more
 * it is cut back to its last whole piece and `last_words` are appended, if they fit. */
int async_writer_open(struct output_begun *file, const char *path, const struct bytes *first,
		      const struct bytes *last_words, struct async_writer **ret,
		      struct err *err) MUST_CHECK;

/* One piece, head and body, whole or not at all; `adds`: its contents.  Waits only while too much
 * is queued.  0, or why an earlier piece could not be written. */
int async_writer_put(struct async_writer *async_writer, const struct part parts[2],
		     const struct recorded_contents *adds) MUST_CHECK;

/* The contents of the file so far. */
struct recorded_contents async_writer_written(struct async_writer *async_writer);

/* Writes the queue, closes, frees; 0, or why the file is incomplete.  `written`: its contents. */
int async_writer_close(struct async_writer *async_writer, struct recorded_contents *written);
