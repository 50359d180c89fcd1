/*
 * What a recording holds besides records.  The writer gets these structs and the reader returns
 * them; texts and lists belong to the code that filled them in, the reader's live until its next
 * chunk.
 */
#pragma once

#include "shared/wire/ring.h"
#include "shared/wire/sample.h"

#include "host/recording/format.h"

#include <stdbool.h>

#define PROCESS_NONE UINT32_MAX

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
	uint32_t is_event; /* 0 or 1 */
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

static inline uint64_t drops_sum(const uint64_t drops[DROP_REASONS])
{
	uint64_t sum = 0;

	for (unsigned reason = 0; reason < DROP_REASONS; reason++)
		sum += drops[reason];
	return sum;
}

static inline void drops_add(uint64_t to[DROP_REASONS], const uint64_t more[DROP_REASONS])
{
	for (unsigned reason = 0; reason < DROP_REASONS; reason++)
		to[reason] += more[reason];
}

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

/* The sampling's options, and its counts so far; a later one replaces it. */
struct recorded_sampling {
	const char *sampler; /* "bpf" */
	const char *reasons; /* lines: why no better one could be had */
	uint32_t hz;
	uint32_t flags; /* enum sampling_flags */
	uint64_t samples, lost;
	uint64_t ends[STACK_ENDS];
};

enum sampling_flags {
	SAMPLING_ON_CPU = 1 << 0,
	SAMPLING_OFF_CPU = 1 << 1,
	SAMPLING_KERNEL = 1 << 2,
	SAMPLING_SYSTEM_WIDE = 1 << 3, /* every process, not only named ones */
};

/* The origin of code. */
struct recorded_code {
	uint32_t kind;    /* enum code_kind (host/symbols) */
	uint32_t process; /* owner of the addresses; PROCESS_NONE: a file, or the kernel */
	uint32_t build_id_size;
	unsigned char build_id[BUILD_ID_MAX];
	const char *path;
};

/* How often a thread was seen with the lock of its Python, and waiting for it. */
struct recorded_gil {
	uint32_t thread;
	uint64_t looks, held, waited;
};

#define METRIC_NO_DEVICE UINT64_MAX

enum metric_form {
	METRIC_COUNT, /* added up in the window: events, nanoseconds, bytes */
	METRIC_LEVEL, /* averaged over the window: a share, a clock, watts */
	METRIC_FORMS,
};

struct recorded_metric {
	uint32_t number;
	uint32_t process; /* PROCESS_NONE: of the machine, or of a device with all its users */
	uint32_t form;    /* enum metric_form */
	uint64_t device;  /* its number, as work of the process has it; METRIC_NO_DEVICE: of none */
	const char *source;      /* the source: "perf", "amd" */
	const char *name;        /* "task-clock", "SQ_WAVES" */
	const char *unit;        /* "ns", "B", "%"; "": a plain number */
	const char *subject;     /* the device, for people: "gfx942 1"; "": none */
	const char *description; /* for people; may be "" */
};

/* One reading of a process. */
struct recorded_usage {
	uint32_t process, threads;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;  /* so far */
	uint64_t rss_bytes;
};

#define USAGE_BYTES 32u
