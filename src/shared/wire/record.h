/*
 * The record of a thread of the target about one call.  Explicit layout, little endian, every
 * record a multiple of eight bytes.  The meaning of a call's values is in its function (struct
 * trace_function), not in each record.
 *
 * Work of a device (a kernel, a copy) is a call, too: of a function of its own domain, from when
 * the device began until it was done, written by the thread that saw its end.  Its values have the
 * thread that caused it, and when that thread's call began.
 */
#pragma once

#include "shared/wire/domains.h"

#define RECORD_ALIGNMENT         8u
#define RECORD_MAX_BYTES         1024u
#define RECORD_VALUES_MAX        16u
#define RECORD_FRAMES_MAX        64u
#define RECORD_TEXT_MAX          256u
#define RECORD_PYTHON_FRAMES_MAX 60u /* in one name */
#define TRACE_NAME_MAX           96u
#define TRACE_LIBRARY_MAX        112u
#define TRACE_FUNCTIONS_MAX      16384u

/* In a recording, kinds after these are written with their length, so that readers that do not know
 * them can skip them (docs/recording-format.md). */
enum record_kind {
	RECORD_PAD,    /* nothing, to the end of the ring */
	RECORD_CALL,   /* struct record_call, then values */
	RECORD_STACK,  /* struct record_stack, then frames; belongs to the record before it */
	RECORD_TEXT,   /* struct record_text, then bytes; belongs to the record before it */
	RECORD_NAME,   /* struct record_name, then bytes; belongs to a number in values */
	RECORD_COUNTS, /* struct record_counts, then counts; belongs to the record before it */
	RECORD_STACK_NUMBER, /* struct record_stack_number, in recordings only: the host writes it
				in place of a RECORD_STACK */
	RECORD_STACK_PART,   /* struct record_stack_part, then bytes, in rings only: a copy of stack
				memory, of which the host makes a stack */
	RECORD_PYTHON,       /* struct record_python, then frames, in rings only: of the stack that
				follows */
	RECORD_KINDS,
};

struct record {
	uint16_t size; /* all of it, in bytes */
	uint8_t kind;  /* enum record_kind */
	uint8_t count; /* of values, frames or counts; of a name: which part of it, from 0 */
};

/* Times are ticks of the machine's counter. */
struct record_call {
	struct record head;
	uint32_t function; /* index of its struct trace_function */
	uint64_t begin, end;
};

struct record_stack {
	struct record head;
	uint32_t is_caller; /* in rings: only the direct caller was requested */
			    /* return addresses follow, innermost first */
};

/* The stack is one that samples can share.  `count` of the head: how it ended (enum stack_end). */
struct record_stack_number {
	struct record head;
	uint32_t stack; /* UINT32_MAX: no frame is known */
};

/* The registers of a traced call's caller, and its stack from sp on, in consecutive records;
 * `count` of the head: their index, from 0. */
struct record_stack_part {
	struct record head;
	uint32_t bytes; /* of all parts */
	uint64_t pc;    /* where the call returns to */
	uint64_t sp, fp;
};
#define STACK_PART_BYTES (RECORD_MAX_BYTES - (unsigned)sizeof(struct record_stack_part))
#define STACK_COPY_MAX   16384u

/* The thread's Python frames, innermost first; several records may follow each other.  `count` of
 * the head: of struct interpreted_frame, at most RECORD_PYTHON_FRAMES_MAX. */
struct record_python {
	struct record head;
	uint32_t is_cut; /* there are more frames */
};

struct record_text {
	struct record head;
	uint32_t bytes;
	/* text follows, filled up to the alignment */
};

/* The counts of a device during the work of the call. */
struct record_counts {
	struct record head;
	uint32_t reserved;
	/* struct record_count follow; several records may follow each other */
};

/* The event is an index in the request; the place is the part of the device: six numbers of a byte
 * each, of XCC, AID, shader engine, shader array, WGP and instance. */
#define COUNT_EVENT_SHIFT 48u
struct record_count {
	uint64_t id; /* the event above the place */
	uint64_t value;
};
#define RECORD_COUNTS_MAX                                              \
	((RECORD_MAX_BYTES - (unsigned)sizeof(struct record_counts)) / \
	 (unsigned)sizeof(struct record_count))

/* The kind of number that a name is for. */
enum name_space {
	NAME_KERNEL,
	NAME_DEVICE, /* lines "key=value": type (cpu, gpu), index (which one of its type, as its
			runtime counts), name, vendor, product, model; what its driver says of it,
			by the driver's names */
	NAME_QUEUE,
	NAME_STREAM,
	NAME_FILE,       /* of system calls: a path, or a descriptor's file */
	NAME_CALL_STACK, /* a line "function<tab>file<tab>line" for each frame, innermost first;
			    in a ring: struct interpreted_frame instead, at most
			    RECORD_PYTHON_FRAMES_MAX of them */
	NAME_SPACES,
};

/* Written before the first record that uses the number; a long name in parts, each in its turn. */
struct record_name {
	struct record head;
	uint16_t bytes;
	uint16_t space; /* enum name_space */
	uint64_t id;
	/* text follows, filled up to the alignment */
};

/* The meaning of a call's value. */
enum value_kind {
	VALUE_NONE,
	VALUE_RESULT, /* signed; negative: it failed */
	VALUE_SIZE,   /* bytes requested or moved */
	VALUE_ADDRESS,
	VALUE_OLD_ADDRESS, /* the freed address */
	VALUE_DESCRIPTOR,
	VALUE_OBJECT, /* a lock, a queue, a stream */
	VALUE_OWNER,  /* thread number */
	VALUE_ID,     /* of a range */
	VALUE_NAME,   /* number of a kernel's name (NAME_KERNEL) */
	VALUE_DEVICE, /* number of a device (NAME_DEVICE), all ones: unknown; a copy's target */
	VALUE_FROM_DEVICE,
	VALUE_QUEUE,
	VALUE_STREAM,
	VALUE_THREAD, /* the thread whose call caused it */
	VALUE_CAUSE,  /* when that call began, in ticks; 0: not known */
	VALUE_DISPATCH,
	VALUE_GRID_X, /* work items, not groups */
	VALUE_GRID_Y,
	VALUE_GRID_Z,
	VALUE_GROUP_X,
	VALUE_GROUP_Y,
	VALUE_GROUP_Z,
	VALUE_SCRATCH_BYTES, /* of a work item */
	VALUE_LOCAL_BYTES,   /* of a work group */
	VALUE_DIRECTION,     /* enum copy_direction */
	VALUE_OPERATION,     /* enum memory_operation */
	VALUE_FLAGS,
	VALUE_FILE, /* number of a file's name (NAME_FILE); 0: not known */
	VALUE_RANK, /* of a communicator: the caller's own, how many there are, and the other
		       one's; all ones: not known */
	VALUE_RANKS,
	VALUE_PEER,
	VALUE_CALL_STACK, /* number of a stack (NAME_CALL_STACK); 0: not known */
	VALUE_KINDS,
};

enum copy_direction {
	COPY_UNKNOWN,
	COPY_HOST_TO_HOST,
	COPY_HOST_TO_DEVICE,
	COPY_DEVICE_TO_HOST,
	COPY_DEVICE_TO_DEVICE,
	COPY_DIRECTIONS,
};

enum memory_operation {
	MEMORY_ALLOCATE,
	MEMORY_FREE,
	MEMORY_REALLOCATE,
	MEMORY_RECLAIM,
	MEMORY_VIRTUAL_ALLOCATE, /* of addresses or handles, not of memory */
	MEMORY_VIRTUAL_FREE,
	MEMORY_OPERATIONS,
};

struct trace_function {
	char name[TRACE_NAME_MAX];       /* "malloc" */
	char library[TRACE_LIBRARY_MAX]; /* where it is implemented, "" when not known */
	uint8_t domain;                  /* enum trace_domain */
	uint8_t value_count;
	uint8_t values[RECORD_VALUES_MAX]; /* enum value_kind */
};

/* The size of a call record with so many values. */
static inline size_t record_call_size(unsigned value_count)
{
	return sizeof(struct record_call) + value_count * sizeof(uint64_t);
}

/* 0 when a record with room bytes behind it is whole and sound by itself; -EPROTO otherwise. */
int record_check(const struct record *record, size_t room) MUST_CHECK;
