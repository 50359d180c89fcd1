/*
 * Calls that limpet watches for itself, whether or not a sink wants them: for example, loading an
 * executable, or allocating memory.
 */
#pragma once

#include "target/amd/tables/call.h"

/* What a watched call is needed for. */
enum watch_feature {
	FEATURE_RESTARTS = 1, /* of HSA: while anything of it is used */
	FEATURE_CODE = 2,     /* code objects and their kernels */
	FEATURE_MEMORY = 4,   /* of devices */
	FEATURE_LAUNCHES = 8, /* calls of HIP that launch or copy */
	FEATURE_HIP = 16,     /* all calls of HIP: any may cause device work */
	FEATURE_PACKETS = 32, /* packets in queues */
	FEATURE_SIGNALS = 64, /* signals that end packets and copies */
	FEATURE_COPIES = 128, /* of HSA */
	FEATURE_RANGES = 256, /* of roctx */
};

struct slot_watch {
	const char *name;  /* the function's name; a trailing '*' matches any rest */
	uint16_t features; /* it is watched while one of these is wanted */
	/* `before` and `after` run around the call. */
	void (*before)(struct call_frame *frame);
	void (*after)(struct call_frame *frame, uint64_t end);
	bool is_first; /* `after` runs before tools are notified of the end */
	/* The call runs unwatched: the table of threads is full. */
	void (*missed)(const struct call_frame *frame);
};

/* What a call is watched for. */
#define WATCHING_CALL   1u /* it is in the list */
#define WATCHING_STREAM 2u /* it has a HIP stream argument that tools want */
#define WATCHING_TOOLS  4u /* tools want it: it has a correlation id */

/* Sets the list; a function has the handlers of its first match. */
void watch_use(const struct slot_watch *list, unsigned count);

/* The function's number in the list, from 1; 0: not watched. */
uint8_t watch_find(const char *name);
/* NULL: not watched. */
const struct slot_watch *watch_of(const struct call_slot *slot);
/* 0: not watched. */
unsigned watch_features(const struct call_slot *slot);

/* Called around a watched call, `is_first` before tools are notified of its end. */
void watch_before(struct call_frame *frame);
void watch_after(struct call_frame *frame, uint64_t end, bool is_first);
