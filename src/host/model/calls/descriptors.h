/*
 * Files and sockets: bytes and time by descriptor.  A descriptor that is closed and opened again is
 * another row if its name differs.
 *
 * Descriptors in the values of calls:
 *   read, write, ...  DESCRIPTOR, SIZE, RESULT: the bytes moved, when they are not more than SIZE
 *   readv, sendmsg    DESCRIPTOR, RESULT: the bytes moved (getline, puts, vfprintf, too)
 *   open              RESULT is the descriptor, the text its path
 *   accept            DESCRIPTOR listens; RESULT is the new one, the text its peer
 *   fopen, fclose     OBJECT is the stream, which stands for its descriptor
 */
#pragma once

#include "host/core/rows.h"
#include "host/model/model.h"
#include "host/model/statistics.h"

struct descriptor_row {
	const struct model_process *process;
	int descriptor;
	char *name; /* path or peer, "" when not known */
	uint64_t read_bytes, written_bytes;
	struct statistics statistics;
};

/* Zero is empty. */
struct descriptors {
	struct descriptor_row *rows;
	uint32_t count;
	struct row_index by_name; /* (process and descriptor, hash of the name) */
	struct table current;     /* (process and descriptor, 0): row */
	struct table streams;     /* (object, process): descriptor */
};

/* Starts with the descriptors open before the recording.  0 or -ENOMEM. */
int descriptors_init(struct descriptors *ret, const struct model *model) MUST_CHECK;
int descriptors_add(struct descriptors *descriptors, const struct call *call) MUST_CHECK;
/* How many bytes a call moved; false when it is none that moves any. */
bool descriptors_bytes(const struct call *call, uint64_t *ret);
/* True when it writes to the descriptor, not reads. */
bool descriptors_is_writing(const struct trace_function *function);
/* By time. */
void descriptors_sort(struct descriptors *descriptors);
void descriptors_done(struct descriptors *descriptors);
