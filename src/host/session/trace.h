/*
 * limpet's own tracer in a target: the memory for its records, what it is to trace, and its counts
 * and notes.  A caller makes a struct trace, gives it to session_open(), reads the rings while the
 * session lasts, and once more after session_detach().
 */
#pragma once

#include "host/runtimes/runtimes.h"
#include "host/session/options.h"
#include "shared/wire/ring.h"

struct recorded_counter;

#define TRACER_NAME "liblimpet-tracer.so"

#define TRACE_SLOTS     256u
#define TRACE_RING_SIZE (1u << 20)
/* Few threads report what all devices do, and the ring must last while limpet gets no processor. */
#define TRACE_RING_SIZE_DEVICES (4u << 20)

struct trace_options {
	uint32_t domains;             /* bits of enum trace_domain */
	bool all_locks;               /* also uncontended ones */
	bool address_entries;         /* also entries whose address the program uses */
	bool alloc_stacks;            /* the call stack of every allocation */
	bool io_stacks, lock_stacks;  /* likewise */
	uint32_t runtime_options;     /* bits of enum runtime_option */
	uint64_t alloc_sample;        /* bytes between samples, which have stacks; 0: every call */
	const char *const *functions; /* "LIBRARY:SYMBOL", with * and ? */
	size_t function_count;
	const char *counters; /* what devices shall count, in the tracer's syntax; NULL: nothing */
	const struct recorded_counter *counter_facts; /* the same for the recording */
	uint32_t counter_fact_count;
	const char *windows; /* what whole devices shall count, likewise; NULL: nothing */
	uint32_t slot_count; /* threads traced at once; 0: TRACE_SLOTS */
	uint64_t ring_size;  /* bytes per thread, a power of two; 0: one of the above */
};

/* The request for these options, in the tracer's syntax; -EINVAL for options that do not fit. */
int trace_request(const struct trace_options *options, char ret[RINGS_REQUEST_MAX],
		  struct err *err) MUST_CHECK;

/* Whether traced threads read their Python frames where they launch work of devices. */
bool trace_reads_launches(const struct trace_options *options);
/* Whether traced threads read their Python frames. */
bool trace_reads_python(const struct trace_options *options);

/* Bits of all domains that the options select. */
uint32_t trace_domains(const struct trace_options *options);

/* Domains in which the tracer opens no descriptor, and calls no code that does. */
#define TRACE_DOMAINS_APART \
	(DOMAIN_BIT(ALLOC) | DOMAIN_BIT(IO) | DOMAIN_BIT(LOCK) | DOMAIN_BIT(FUNCTION))

/* "alloc", "hip", ...: the option's name before "-trace".  Bits; 0: there is none. */
uint32_t trace_domains_named(const char *word);

struct trace {
	struct rings *rings; /* written by the target: not trusted */
	struct rings layout; /* as limpet made it: use these numbers, not those of the rings */
	int fd;
	uint32_t domains_wanted; /* bits */
	bool wants_stacks;
	char (*notes)[TRACE_NOTE_TEXT_MAX]; /* copies of the tracer's notes */
};

/* Makes the memory, sealed against resizing.  -EINVAL for options that do not fit. */
int trace_open(struct trace *ret, const struct trace_options *options, struct err *err) MUST_CHECK;
void trace_close(struct trace *trace);

/* Why a selected domain shows nothing, or not all, where the tracer knows; NULL. */
const char *trace_note(const struct trace *trace, unsigned domain);
/* Bits of the domains that are not traced since another tool holds what they need. */
uint32_t trace_held(const struct trace *trace);

/* A note for the end of the session, by its number, below TRACE_NOTES; NULL. */
const char *trace_end_note(const struct trace *trace, unsigned note);

/* Bits of the selected domains that the target has nothing of. */
uint32_t trace_absent(const struct trace *trace);

/* The target's import entries, as its tracer has counted them so far, over all sessions. */
struct trace_words {
	uint32_t hooked, restored;
	uint32_t foreign;    /* changed by another tool meanwhile, and left so */
	uint32_t unwritable; /* could not be changed: calls are not seen */
	uint32_t refused;    /* beyond the tracer's table: not seen */
	uint32_t left;       /* not hooked: the program also uses the function's address */
	char left_function[TRACE_NAME_MAX], left_module[TRACE_LIBRARY_MAX]; /* one of these */
};

void trace_words(const struct trace *trace, struct trace_words *ret);

#define TRACE_REASONS_MAX 8u

/* Queues for which device times were requested, over all sessions. */
struct trace_queues {
	uint32_t timed, estimated;
	uint32_t left; /* limpet's queues that stay until a device is done */
	uint32_t reason_count;
	char reasons[TRACE_REASONS_MAX][TRACE_NOTE_TEXT_MAX]; /* why some are estimated */
};

void trace_queues(const struct trace *trace, struct trace_queues *ret);
/* Adds those of another process; each reason is kept once. */
void trace_queues_add(struct trace_queues *to, const struct trace_queues *more);

/* For the session: sends the memory, and loads the tracer. */
int trace_load(struct attachment *attachment, const struct trace *trace, struct session_tool *tool,
	       struct err *err) MUST_CHECK;
