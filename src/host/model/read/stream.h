/*
 * The calls of one thread in the order of their beginnings.  In the file they are in the order of
 * their ends, so a call is held back until no later chunk can hold one that began before it.
 */
#pragma once

#include "host/model/model.h"

/* A call as it waits for its turn. */
struct waiting_call {
	uint64_t begin, end; /* ticks */
	uint32_t function;
	uint32_t value_count;
	uint32_t stack, stack_end;
	bool has_text, has_stack;
	size_t text, counts; /* indexes in the stream's side */
	uint32_t count_count;
	uint64_t values[RECORD_VALUES_MAX];
};

struct stream {
	struct model *model;
	struct model_thread *thread;
	size_t next_location;
	struct waiting_call *calls;
	size_t count, room;
	size_t next, ready; /* those from next to ready may be returned */
	struct bytes side;  /* texts and counts */
	bool has_last;      /* the last call's further records may follow */
};

/* The beginning of the next call in ticks, or of one that is not yet read. */
uint64_t stream_key(const struct stream *stream);

/* 1: *ret is the next call; 0: it has to be read first (stream_read); -ENOENT: there are no more.
 */
int stream_next(struct stream *stream, const struct waiting_call **ret);

/* Reads until a call may go.  0 or -ENOMEM. */
int stream_read(struct stream *stream) MUST_CHECK;

void stream_done(struct stream *stream);

/* All threads' calls as they were recorded, in the order of their beginnings. */
int merge_each_call(struct model *model, call_visitor *visit, void *context) MUST_CHECK;
