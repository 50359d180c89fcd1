/*
 * What a thread of the target writes down about one call.  Explicit layout, little endian, every
 * record a multiple of eight bytes.  What the values of a call mean is said once, by the function
 * that it names (struct trace_function), not in each record.
 */
#pragma once

#include "shared/base/macros.h"

#define RECORD_VERSION      1u
#define RECORD_ALIGNMENT    8u
#define RECORD_MAX_BYTES    1024u
#define RECORD_VALUES_MAX   6u
#define RECORD_FRAMES_MAX   64u
#define RECORD_TEXT_MAX     256u
#define TRACE_NAME_MAX      96u
#define TRACE_LIBRARY_MAX   112u
#define TRACE_FUNCTIONS_MAX 16384u

enum record_kind {
	RECORD_PAD,   /* nothing, to the end of the ring */
	RECORD_CALL,  /* struct record_call, then values */
	RECORD_STACK, /* struct record_stack, then frames; belongs to the record before it */
	RECORD_TEXT,  /* struct record_text, then bytes; belongs to the record before it */
	RECORD_KINDS,
};

struct record {
	uint16_t size; /* all of it, in bytes */
	uint8_t kind;  /* enum record_kind */
	uint8_t count; /* of values or frames */
};

/* Times are ticks of the machine's counter. */
struct record_call {
	struct record head;
	uint32_t function; /* index of its struct trace_function */
	uint64_t begin, end;
};

struct record_stack {
	struct record head;
	uint32_t reserved;
	/* return addresses follow, innermost first */
};

struct record_text {
	struct record head;
	uint32_t bytes;
	/* text follows, filled up to the alignment */
};

enum trace_domain {
	DOMAIN_ALLOC,
	DOMAIN_IO,
	DOMAIN_LOCK,
	DOMAIN_FUNCTION,
	DOMAIN_MARKER,
	DOMAINS,
};

/* What a value of a call is. */
enum value_kind {
	VALUE_NONE,
	VALUE_RESULT, /* signed; negative: it failed */
	VALUE_SIZE,   /* bytes asked for or moved */
	VALUE_ADDRESS,
	VALUE_OLD_ADDRESS, /* what is given back */
	VALUE_DESCRIPTOR,
	VALUE_OBJECT, /* a lock, a queue, a stream */
	VALUE_OWNER,  /* thread number */
	VALUE_ID,     /* of a range */
	VALUE_KINDS,
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
