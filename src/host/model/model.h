/*
 * A recording as plain data.  Opening reads the whole file once and keeps everything but the calls;
 * those are streamed in the order of their beginnings, any number of times: memory does not grow
 * with the recording.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/pool.h"
#include "host/model/domains.h"
#include "host/model/names.h"
#include "host/recording/reader.h"
#include "shared/wire/sample.h"

/* One chunk of a thread's records. */
struct records_location {
	uint64_t at;          /* in the file */
	uint64_t least_begin; /* of the calls in this and all later chunks, in ticks */
	uint32_t sequence;
	bool begins_with_a_rest; /* its first record belongs to the chunk before */
};

struct model_thread {
	uint32_t number;
	const struct model_process *process;
	int32_t tid;
	uint64_t generation;
	char *name;
	uint64_t calls, samples;
	uint64_t gil_looks, gil_held, gil_waited; /* at the lock of its Python: see recorded_gil */
	uint64_t drops[DROP_REASONS];
	struct records_location *locations;
	size_t location_count, location_room;
};

struct model_process {
	uint32_t number;
	uint32_t number_in_file; /* of an export that holds several recordings; else the same */
	int32_t pid;
	uint64_t start_ns;
	char *name, *executable, *command;
	int32_t parent, group, session; /* 0: not known */
	uint32_t siblings;
	char *folder; /* it works in */
	struct trace_function *functions;
	uint32_t function_count;
	uint32_t first_function;         /* functions of all processes are numbered through */
	struct recorded_module *modules; /* by address */
	uint32_t module_count;
	struct recorded_file *files; /* open at the beginning */
	uint32_t file_count;
	struct recorded_variable *variables; /* of its environment, some */
	uint32_t variable_count;
	struct recorded_counter *counters; /* events first, see recorded_counter */
	uint32_t counter_count, counter_events;
	uint64_t drops[DROP_REASONS]; /* of threads without a ring */
	/* System calls that are not among its calls; see recorded_syscalls. */
	uint64_t syscalls_before, syscalls_under_way;
	struct names names; /* of kernels, devices, queues, streams, files */
};

/* Measurements over time, see windows.h.  Zero is nothing. */
struct windows {
	struct model_metric *metrics;
	size_t metric_count, metric_room;
	uint64_t count;             /* in the file */
	uint64_t first_ns, last_ns; /* CLOCK_BOOTTIME: of the first beginning, of the last end */
	uint64_t *chunks;           /* offsets of chunks with windows */
	size_t chunk_count, chunk_room;
};

/* The usage of processes: readings of each, in the order of the file, which for one process is that
 * of their times.  Zero is nothing. */
struct usage_readings {
	struct recorded_usage *items;
	size_t count, room;
};

struct model {
	const char *limpet_version, *host, *kernel, *machine, *command, *options;
	struct pool texts; /* of these, and of lists and metrics */
	struct model_process **processes;
	struct model_thread **threads;
	uint32_t process_count, thread_count, function_count;
	struct clock_point first, last; /* the same when there is only one */
	bool has_clock;
	uint64_t slope;          /* of time over ticks, see time.c */
	uint64_t alloc_sample;   /* bytes between samples of allocations; 0: there is every call */
	struct recorded_end end; /* reason RECORDING_CUT: there was none */
	uint64_t calls, records;
	bool has_raw_stacks;          /* calls have stacks of addresses, see raw_stacks.h */
	uint64_t other_records;       /* of kinds that are newer than this limpet */
	uint64_t drops[DROP_REASONS]; /* all of them */
	uint64_t damaged;             /* chunks that could not be read or made no sense */
	uint64_t records_max;         /* also of items of each kind: frames, stacks, names */
	uint64_t left_out;            /* chunks that have more */
	uint64_t cut_bytes;
	/* Limits visits to this part (model_narrow), CLOCK_BOOTTIME; to_ns 0: all. */
	uint64_t from_ns, to_ns;
	struct samples *samples; /* see samples.h; never NULL */
	struct windows windows;
	struct usage_readings usage;
	struct recording_reader *reader;
};

/* A recording of S bytes may hold MODEL_RECORDS_LEAST + S * MODEL_RECORDS_PER_BYTE records: those
 * of tight loops have one in a byte.  A file with more was made to exhaust its reader. */
#define MODEL_RECORDS_LEAST    (256u << 10)
#define MODEL_RECORDS_PER_BYTE 8u

int model_open(const char *path, struct model **ret, struct err *err) MUST_CHECK;
/* The same with up to `records_max` records, for any size; 0: as above. */
int model_open_up_to(const char *path, uint64_t records_max, struct model **ret,
		     struct err *err) MUST_CHECK;
int model_open_fd(int fd, const char *name, struct model **ret, struct err *err) MUST_CHECK;
/* Reads what was added to the file since.  Lists may move.  0, -ENOMEM, why the file cannot be
 * read, or -EPROTO: it has stacks as addresses, whose numbers end the file's. */
int model_follow(struct model *model) MUST_CHECK;
void model_free(struct model *model);
/* The recording itself, byte by byte, as far as it was read. */
int model_copy_file(const struct model *model, int to) MUST_CHECK;

static inline void model_free_at_scope_end(struct model **model)
{
	model_free(*model);
}

enum call_kind {
	CALL_PLAIN,
	CALL_RANGE, /* from one call to another, of a library of markers */
	CALL_MARK,  /* a moment */
};

/* The missing part of a range: the recording's own beginning or end replaces it if nothing more is
 * known. */
enum range_cut { RANGE_WHOLE, RANGE_HEADLESS, RANGE_ENDLESS };

/* One call, or a range of a library of markers.  Valid until its visitor returns. */
struct call {
	const struct model *model;
	const struct model_process *process;
	const struct model_thread *thread;
	const struct trace_function *function;
	uint32_t function_number;  /* in all of the model */
	uint64_t begin;            /* in ticks */
	uint64_t begin_ns, end_ns; /* CLOCK_BOOTTIME */
	unsigned value_count;
	const uint64_t *values;
	bool has_stack;           /* one was recorded, even if no frame of it is known */
	uint32_t stack;           /* of the model's samples; STACK_NONE: none */
	enum stack_end stack_end; /* how complete it is */
	unsigned count_count;
	const struct record_count *counts; /* of a device */
	const char *text;
	enum call_kind kind;
	enum range_cut cut;
	bool is_process_wide; /* a range that nests with nothing */
};

/* Not 0: no more, please. */
typedef int call_visitor(const struct call *call, void *context);

/* In the order of their beginnings; of two that begin at once in one thread, the longer first.
 * Returns the visitor's result, or -ENOMEM. */
int model_each_call(struct model *model, call_visitor *visit, void *context) MUST_CHECK;

/* CLOCK_BOOTTIME of a tick: linear through the first and the last point. */
uint64_t model_time_ns(const struct model *model, uint64_t ticks);

/* CLOCK_BOOTTIME of a time of CLOCK_MONOTONIC, which stops while the machine sleeps: uses the
 * difference at the start. */
static inline uint64_t model_boot_ns(const struct model *model, uint64_t monotonic_ns)
{
	return monotonic_ns + (model->first.boot_ns - model->first.monotonic_ns);
}

/* The difference from CLOCK_BOOTTIME to the time of day. */
int64_t model_wall_offset_ns(const struct model *model);

/* CLOCK_BOOTTIME. */
struct model_span {
	uint64_t begin_ns, end_ns;
};

/* From the beginning of the first sample, call or window to the end of the last one; without any,
 * from the first reading of the clock to the last. */
struct model_span model_span(const struct model *model);

/* Narrows the model to a part of it, from `from_ns` to `to_ns` after its beginning; UINT64_MAX: to
 * its end.  Samples are counted again.  A sample partly inside keeps that part of its weight; calls
 * are inside if they begin there, windows if their middle is there.  0, or -ENOMEM. */
int model_narrow(struct model *model, uint64_t from_ns, uint64_t to_ns) MUST_CHECK;
/* The same between two times of CLOCK_BOOTTIME. */
int model_narrow_between(struct model *model, uint64_t from_ns, uint64_t to_ns) MUST_CHECK;

/* Replaces CLOCK_BOOTTIME by the time of day from now on, for comparison with other machines. */
void model_use_wall_clock(struct model *model);

/* A sample of allocation: how many blocks and bytes it stands for, see sampling.c.  False for all
 * other calls. */
bool call_estimate(const struct call *call, double *ret_blocks, double *ret_bytes);

/* How many blocks one of this size stands for, where one byte in so many is sampled; 0: all. */
double sample_blocks(uint64_t size, uint64_t alloc_sample);

/* Its name for display: a marker's text, a kernel's own name, other work of devices by its
 * direction or operation. */
const char *call_name(const struct call *call);

/* "call", "range", "mark". */
const char *call_kind_name(enum call_kind kind);

/* "began before", "did not end"; "" for a whole one. */
const char *call_cut_text(const struct call *call);

/* The value of that kind, when the function has one. */
bool call_value(const struct call *call, enum value_kind kind, uint64_t *ret);
/* The same; 0 where it has none. */
uint64_t call_number(const struct call *call, enum value_kind kind);
/* The device of its work: of a copy to the host, the source; 0: none. */
uint64_t call_device(const struct call *call);

/* Is it something that a device did? */
static inline bool call_is_work(const struct call *call)
{
	return domain_is_activity(call->function->domain);
}

/* Has it functions of this domain, called or not? */
bool model_has_domain(const struct model *model, unsigned domain);

/* A number that a call and the work that it caused share, and no other call has; 0: not known. */
uint64_t call_correlation(const struct call *call);

/* A variable of its environment; NULL: not set, or not recorded. */
const char *process_variable(const struct model_process *process, const char *name);
/* Sets a variable over that of its environment; 0 or -ENOMEM. */
int process_set_variable(struct model *model, struct model_process *process, const char *name,
			 const char *value) MUST_CHECK;

/* The module of an address; NULL: none. */
const struct recorded_module *process_module(const struct model_process *process, uint64_t address);
/* "libfoo.so+0x1234", or the bare address. */
void frame_text(const struct model_process *process, uint64_t address, char *ret, size_t room);

const char *drop_reason_name(unsigned reason); /* for programs */
const char *drop_reason_text(unsigned reason); /* for people */
const char *value_name(unsigned kind);

/* How a value of a kind is written: "0x1000", "-1", "12". */
enum value_form { VALUE_UNSIGNED, VALUE_SIGNED, VALUE_POINTER };
enum value_form value_form(unsigned kind);
#define VALUE_TEXT_MAX 24u
const char *value_text(unsigned kind, uint64_t value, char ret[VALUE_TEXT_MAX]);

/* In hexadecimal; "" without one. */
#define BUILD_ID_TEXT_MAX (2u * BUILD_ID_MAX + 1)
const char *build_id_text(const unsigned char *build_id, uint32_t size,
			  char ret[BUILD_ID_TEXT_MAX]);

/* "" when a recording ended normally and is complete; else the problem. */
void model_describe_end(const struct model *model, char *ret, size_t room);

/* A recording without a call, a sample and a window is no success: -ENODATA with the exit code for
 * it. */
int model_check_filled(const struct model *model, const char *path, struct err *err) MUST_CHECK;
