/*
 * What a recording holds besides records.  The writer gets these structs and the reader returns
 * them; texts and lists belong to the code that filled them in, the reader's live until its next
 * chunk.
 */
#pragma once

#include "shared/wire/ring.h"

#include "host/recording/format.h"

#include <stdbool.h>

struct recorded_session {
	const char *limpet_version;
	const char *host, *kernel, *machine; /* from uname(2) */
	const char *command;                 /* how limpet was called */
	const char *options;                 /* the traced domains: "alloc;io" */
};

/* Processes and threads are numbered in order, from 0, in one file. */
struct recorded_process {
	uint32_t number;
	int32_t pid;
	uint64_t start_ns; /* CLOCK_BOOTTIME when it began, 0: not known */
	const char *name, *executable, *command;
	int32_t parent, group, session; /* 0: not known, as in old recordings */
	uint32_t siblings;              /* children of its parent, itself among them */
	const char *folder;             /* the one it works in */
};

/* Of its environment as it was begun with. */
struct recorded_variable {
	const char *name, *value;
};

/* A repeated entry changes the name. */
struct recorded_thread {
	uint32_t number, process;
	int32_t tid;
	uint64_t generation; /* of its ring */
	const char *name;
};

struct recorded_module {
	uint64_t base, size, offset; /* base: its address; offset: of that, in the file */
	uint32_t build_id_size;      /* 0: it has none */
	unsigned char build_id[BUILD_ID_MAX];
	const char *path;
};

/* The counters requested of devices: events of their blocks, which number the counts, then the
 * counters computed from them. */
struct recorded_counter {
	bool is_event;
	uint32_t flags;    /* of an event: how it is summed up */
	uint32_t number;   /* of a counter: its own in the definitions */
	const char *name;  /* of an event: the counter that it is */
	const char *block; /* "": it is computed */
	const char *description, *expression;
	const char *expanded; /* of names of events and numbers only */
};

/* A descriptor open when the recording begins. */
struct recorded_file {
	int32_t descriptor;
	const char *name; /* path or peer */
};

/* All clocks at one moment, in nanoseconds. */
struct clock_point {
	uint64_t ticks;
	uint64_t stated_hz; /* ticks per second as the machine states them, 0: it does not */
	uint64_t raw_ns, monotonic_ns, boot_ns, real_ns;
};

/* Records lost so far; a later one replaces it. */
struct recorded_drops {
	uint32_t process, thread; /* THREAD_NONE: of threads without a ring */
	uint64_t counts[DROP_REASONS];
};

/* System calls that are not among the records; a later one replaces it. */
struct recorded_syscalls {
	uint32_t process;
	uint64_t began_before; /* the recording, or a period of it */
	uint64_t under_way;    /* at its end */
};

enum recording_end {
	RECORDING_CUT,      /* no end was written: limpet was killed */
	RECORDING_COMPLETE, /* stopped on request */
	RECORDING_NO_SPACE, /* the file could not be written any more */
	RECORDING_GIVEN_UP, /* stopped without draining the rings */
	RECORDING_ENDS,
};

/* The contents of a file, which may be incomplete: a full disk. */
struct recorded_contents {
	uint64_t bytes, records, samples, windows;
	bool leaves_old_file; /* the recording was empty; an earlier file keeps the name */
};

struct recorded_end {
	uint32_t reason; /* enum recording_end */
	uint64_t records, record_bytes, invalid;
	uint64_t drops[DROP_REASONS];
};
