/*
 * The interface between the engine, in the agent, and limpet's tracer, which records what it sees.
 * Both tables begin with their size; a table of another size is another limpet's.
 */
#pragma once

#include "target/amd/counters/request.h"
#include "target/amd/events/events.h"

struct call_slot;
struct intercept_counts;

/* What a session records. */
struct amd_request {
	uint32_t domains; /* bits */
	bool asks_number; /* libc does not know every thread's ID */
	const struct counter_request *counters;
	/* A function is about to be recorded: gives it a number. False: no room. */
	bool (*announce)(const struct call_slot *slot);
	/* A live table's calls are recorded: `entries` lies in the library of the functions. */
	void (*cover)(const uint64_t *entries, enum trace_domain domain);
};

/* What a look at the tables has found. */
struct amd_report {
	uint32_t hooked, unwritable, refused;
	uint32_t domains; /* bits: something of them is there */
};

/* What remains at the end of a session. */
struct amd_left {
	uint32_t restored, foreign, unwritable; /* entries */
	uint32_t cut;                           /* work under way */
	uint32_t unseen;    /* kernels and copies whose signals the application has not read */
	uint32_t lost;      /* commands that could not be noted */
	uint32_t uncounted; /* kernels */
};

/* limpet's threads call all but finish() and give_up(), one at a time. */
struct amd_engine {
	uint32_t size;
	uint64_t *dispatches; /* counts kernels, of all runtimes */
	const struct call_slot *slots;

	void (*begin)(const struct amd_sink *ring, const struct amd_request *request);
	/* Intercepts tables that are new, or were reset. */
	void (*look)(struct amd_report *report);
	/* Queries runtimes, which may wait for an application thread, and begins what needs it. */
	void (*ask)(struct amd_report *report);
	/* Returns the nanoseconds until the next call; UINT64_MAX: none. */
	uint64_t (*tick)(uint64_t now_ns);
	/* Requests nothing more, and waits for what was requested while calls still lead here. */
	void (*stop)(struct amd_left *left);
	/* Then: removes stubs. */
	void (*restore)(struct amd_left *left);
	/* In exit(), on its thread: waits briefly for work that devices have finished; later, after
	 * all handlers: writes unfinished work, and calls no runtime. */
	void (*finish)(void);
	void (*give_up)(void);
	/* A thread is about to lose the right to read the machine's counter. */
	void (*forbid_counter)(void);
	/* A runtime registers its tables, on an application thread. */
	void (*registered)(const char *name, uint64_t version, void **parts, uint64_t part_count);
	/* Describes a device by lines "key=value"; false: unknown. */
	bool (*describe)(uint64_t device, char *text, size_t room);
};

/* Exported by the agent. NULL: another limpet's. */
const struct amd_engine *limpet_agent_amd(uint32_t size);

/* HSA has started, on the application's thread. */
void subscriber_hsa_came(void);
/* In a forked child. */
void subscriber_adopt(void);
