/*
 * Rows that others refer to in a rocpd database: names, threads, agents, queues, streams, kernels.
 * Each is inserted once, at its first use.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/export/amd/rocpd/rocpd_file.h"
#include "host/export/amd/view/agents.h"
#include "host/export/amd/view/amd.h"

/* Kinds of inserted rows, with ids. */
enum known {
	KNOWN_THREAD,
	KNOWN_AGENT,
	KNOWN_QUEUE,
	KNOWN_STREAM,
	KNOWN_SYMBOL,
	KNOWN_PMC,
	KNOWN_NODE,
	KNOWN_TRACK, /* the last: kinds follow */
};

struct rocpd {
	struct amd_view *view;
	struct rocpd_file file;
	struct err *err;
	int64_t node;
	struct agents *agents; /* of each process */
	struct table known;    /* (kind, id) */
	struct table strings;  /* (hash of it, 0): its id */
	struct table text_ids; /* (the text's address, 0): its id, for texts that stay */
	int64_t string_count, event_count, track_count;
	uint32_t process_count; /* of the recordings before this one */
};

/* Each returns 0 or the code of self->err. */
int rocpd_put(struct rocpd *self, enum rocpd_insert which,
	      const struct rocpd_cell *cells) MUST_CHECK;
int rocpd_no_memory(struct rocpd *self);

/* The id of a part of a process. */
static inline int64_t id_of(const struct model_process *process, uint64_t number)
{
	return (int64_t)((uint64_t)process->number_in_file << 32 | (uint32_t)number);
}

static inline int64_t process_id(const struct model_process *process)
{
	return id_of(process, (uint32_t)process->pid);
}

/* The id of a text. */
int rocpd_passing_string(struct rocpd *self, const char *text, int64_t *ret) MUST_CHECK;
/* The same, faster, of one that stays where it is. */
int rocpd_string(struct rocpd *self, const char *text, int64_t *ret) MUST_CHECK;

/* The name may be NULL. */
int rocpd_thread(struct rocpd *self, const struct model_process *process, int64_t tid,
		 const char *name) MUST_CHECK;
int rocpd_agent(struct rocpd *self, const struct model_process *process,
		uint64_t number) MUST_CHECK;
/* All that the process has names for. */
int rocpd_agents(struct rocpd *self, const struct model_process *process) MUST_CHECK;
int rocpd_queue(struct rocpd *self, const struct model_process *process,
		uint64_t number) MUST_CHECK;
int rocpd_stream(struct rocpd *self, const struct model_process *process,
		 uint64_t number) MUST_CHECK;
/* The kernel that the event is of, by the number of its name. */
int rocpd_symbol(struct rocpd *self, const struct amd_event *event) MUST_CHECK;

/* 1: it was not there before, 0, or an error. */
int rocpd_learn(struct rocpd *self, enum known known, int64_t id) MUST_CHECK;

/* A call or a piece of a device's work, with the rows it refers to. */
int rocpd_event(struct rocpd *self, const struct amd_event *event) MUST_CHECK;

/* The counters of a kernel whose row is the last event. */
int rocpd_counters(struct rocpd *self, const struct amd_event *event) MUST_CHECK;

/* Counters over time; behind all events. */
int rocpd_windows(struct rocpd *self) MUST_CHECK;

/* One object or list of JSON as text, the caller's to free; NULL when there is no memory. */
typedef void json_filler(struct json *json, const void *context);
char *rocpd_json(json_filler *fill, const void *context);
