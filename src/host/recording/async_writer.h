/*
 * Where the bytes of a recording go.  A disk may take seconds for one write; whoever empties rings
 * cannot wait so long.  So the bytes are copied, and a thread of its own writes them, in order.
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

/* Takes the file, also when it fails, and writes `first`; the path is for words.  It takes its name
 * with the first piece that has records, samples or windows.  When the file cannot grow any more it
 * is cut back to its last whole piece and `last_words` are put there, if they fit. */
int async_writer_open(struct output_begun *file, const char *path, const struct bytes *first,
		      const struct bytes *last_words, struct async_writer **ret,
		      struct err *err) MUST_CHECK;

/* One piece, head and body, whole or not at all; `adds` says what is in it.  Waits only while too
 * much has not been written yet.  0, or why an earlier piece could not be written. */
int async_writer_put(struct async_writer *async_writer, const struct part parts[2],
		     const struct recorded_contents *adds) MUST_CHECK;

/* What is in the file. */
struct recorded_contents async_writer_written(struct async_writer *async_writer);

/* Writes what waits, closes, frees; 0, or why not all of it is in the file.  `written`: what is. */
int async_writer_close(struct async_writer *async_writer, struct recorded_contents *written);
