/*
 * Rings in memory that host and target share: one writer each, a thread of the target; one reader
 * for all, the host.  The host makes the memory, sealed against resizing, and never trusts its
 * contents; the target never waits: a full ring drops the record and counts it.
 *
 *   0      struct rings
 *   16384  struct ring, slot_count times
 *   data   ring_size bytes, slot_count times
 *   names  struct trace_function, function_max times
 */
#pragma once

#include "shared/wire/kernel.h"
#include "shared/wire/record.h"

#include <stdbool.h>

#define RINGS_MAGIC       "limpet-rings-05"
#define RINGS_VERSION     11u
#define RINGS_SLOTS_AT    32768u
#define RINGS_SLOTS_MAX   4096u
#define RINGS_REQUEST_MAX 7168u

enum drop_reason {
	DROP_FULL,   /* the host was too slow */
	DROP_NESTED, /* a signal handler interrupted the writing of a record */
	DROP_NO_RING,
	DROP_NO_COUNTER, /* the program has forbidden its threads to read the machine's counter */
	DROP_REASONS,
};

#define TRACE_NOTES         64u
#define TRACE_NOTE_TEXT_MAX 252u

/* The subject of a tracer's note, and so when it is shown. */
enum note_about {
	NOTE_END,     /* the recording as a whole: at its end */
	NOTE_DOMAINS, /* these domains are not traced, or not all of them */
	NOTE_ABSENT,  /* the same, only while nothing of them was found */
	NOTE_HELD,    /* as NOTE_DOMAINS: another tool has what they need */
	NOTE_QUEUES,  /* why device times of some queues are estimated */
};

/* Written by the target: all notes that its tracer may have, and whether it has each. */
struct trace_note {
	uint32_t is_said;
	uint32_t about;   /* enum note_about */
	uint32_t domains; /* bits of enum trace_domain */
	char text[TRACE_NOTE_TEXT_MAX];
};

enum ring_state {
	RING_FREE,
	RING_CLAIMED, /* its thread is filling in its identity */
	RING_USED,
};

/* Writer and reader each have a cache line of their own. */
struct ring {
	uint64_t head; /* bytes written since ever */
	uint64_t tail_seen;
	uint64_t records;
	uint64_t drops[DROP_REASONS];
	uint64_t turned; /* records whose end was before their beginning, corrected */

	uint64_t tail __attribute__((aligned(64))); /* bytes read since ever; the host's */
	/* Written by the host, too: the address of the thread's Python state, 0: not known, and the
	 * value at kernel_python.thread_id while it is this thread's. */
	uint64_t python_state, python_identity;
	uint64_t reserved1[5];

	uint32_t state __attribute__((aligned(64))); /* enum ring_state */
	int32_t tid;
	uint64_t generation; /* counts the threads that had it */
	char name[16];
	uint32_t wants_python; /* by the writer: python_state is wanted */
	uint32_t reserved2[7];
};

/* May the target's threads test by a system call whether memory is mapped?  A filter of one of them
 * could kill it for that. */
enum rings_probes {
	RINGS_PROBES_UNKNOWN, /* not until the filters of all threads were compared */
	RINGS_PROBES_ALLOWED,
	RINGS_PROBES_DENIED,
};

struct rings {
	char magic[16];
	uint32_t version, slot_count;
	uint64_t size;      /* of everything */
	uint64_t ring_size; /* a power of two */
	uint64_t data_at, functions_at;
	uint32_t function_max;
	uint32_t function_count; /* the target's; stored after the entry */
	uint64_t drops_without_ring;

	/* The target's, from here on. */
	uint32_t is_held;       /* threads may be writing */
	uint32_t domains_found; /* bits of enum trace_domain: something of it is hooked */
	uint32_t words_hooked, words_unwritable, words_refused;
	uint32_t words_restored,
		words_foreign; /* at each end; foreign: changed by other tools, left so */
	/* Not hooked, since the program also uses the function's address; one of them by name. */
	uint32_t words_left;
	char left_function[TRACE_NAME_MAX], left_module[TRACE_LIBRARY_MAX];
	uint32_t work_cut;       /* devices were still at it at the end */
	uint32_t work_lost;      /* too much at once to be remembered */
	uint32_t work_unseen;    /* the program never queried their end while attached */
	uint32_t work_uncounted; /* packets not counted, where kernels are counted */
	/* Where device times were requested: queues that got them, queues that did not, and
	 * limpet's queues that stay until a device is done. */
	uint32_t queues_timed, queues_estimated, queues_left;
	struct trace_note notes[TRACE_NOTES];

	char request[RINGS_REQUEST_MAX]; /* by the host: what to trace */
	uint32_t tracer_threads;         /* by the target: those that must not keep it alive */
	struct kernel_python python;     /* the host's: before the first python_state */
	uint32_t probes;                 /* the host's: enum rings_probes */
	uint64_t stack_end;              /* the host's: of the first thread's stack; 0: not known */
};

_Static_assert(sizeof(struct ring) == 192, "three cache lines");
_Static_assert(sizeof(struct rings) <= RINGS_SLOTS_AT, "the head fits");

/* The memory for that many rings; writes the head to *ret if that is not NULL. */
size_t rings_layout(uint32_t slot_count, uint64_t ring_size, uint32_t function_max,
		    struct rings *ret);

/* 0 when the head is sound for a mapping of this size; -EPROTO otherwise. */
int rings_check(const struct rings *rings, size_t size) MUST_CHECK;

static inline struct ring *rings_slot(struct rings *rings, uint32_t index)
{
	return (struct ring *)((char *)rings + RINGS_SLOTS_AT) + index;
}

static inline unsigned char *rings_data(struct rings *rings, uint32_t index)
{
	return (unsigned char *)rings + rings->data_at + index * rings->ring_size;
}

static inline struct trace_function *rings_functions(struct rings *rings)
{
	return (struct trace_function *)((char *)rings + rings->functions_at);
}

/* The writer's side: where a thread writes. */
struct ring_writer {
	struct ring *ring;
	unsigned char *data;
	uint64_t mask;
};

/* Claims a free ring for the calling thread; false when there is none. */
bool ring_claim(struct rings *rings, int32_t tid, const char *name, struct ring_writer *ret);

/* Room for a record, or NULL when it had to be dropped.  After success, the caller must commit
 * before the next call. */
void *ring_reserve(struct ring_writer *writer, size_t size);
void ring_commit(struct ring_writer *writer, size_t size);

/* Would that much fit, at any position? */
bool ring_has_room(const struct ring_writer *writer, size_t size);

/* The reader's side.  The next record, copied; its size, 0 when there is none, -EPROTO when the
 * writer's words make no sense: then everything up to its head is skipped. */
long ring_read(struct ring *ring, const unsigned char *data, uint64_t ring_size, void *into,
	       size_t room);

/* The owner of a ring. */
struct ring_owner {
	int32_t tid;
	uint64_t generation;
	char name[16]; /* terminated */
};

/* False when the ring has no owner. */
bool ring_owner(const struct ring *ring, struct ring_owner *ret);

/* Is the thread's Python state wanted?  True once for each request. */
bool ring_wants_python(struct ring *ring);
void ring_set_python(struct ring *ring, uint64_t state, uint64_t identity);
/* The writer's side: 0 while it is not known; then request it. */
uint64_t ring_python(struct ring *ring, uint64_t *ret_identity);
void ring_ask_python(struct ring *ring);

/* The number of drops so far, including earlier owners of the ring. */
uint64_t ring_drops(const struct ring *ring, enum drop_reason reason);
uint64_t rings_drops_without_ring(const struct rings *rings);
uint64_t ring_turned(const struct ring *ring);

/* How many functions the target has described; not to be believed beyond function_max. */
uint32_t rings_function_count(const struct rings *rings);

/* After its thread has ended and everything was read: the next thread may have it. */
void ring_release(struct ring *ring);
