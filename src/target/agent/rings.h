/*
 * The memory for records that the host has given, and what limpet's tracer finds of the agent.  The
 * functions with limpet_ are exported; a tracer that finds none, or gets NULL, has no host
 * behind it.
 */
#pragma once

#include "shared/wire/boot.h"
#include "shared/wire/ring.h"

struct rings *limpet_agent_rings(void);
/* Addresses of libc's functions. */
const struct boot_libc *limpet_agent_libc(void);

/* Its turn with the program's forks, for those who go with it; NULL: none. */
struct fork_turn *limpet_agent_turn(void);

/* The tracer must not be unloaded, for this reason; the first one stays. */
void limpet_agent_keep_tracer(const char *reason);
/* Is it being closed, after a proof that nothing of the program's leads to it? */
bool limpet_agent_is_unloading(void);

/* Is the thread of that number limpet's?  Asked on any thread of the program's. */
bool limpet_agent_is_own(int32_t tid);

/* The API tables that it knows, which stay where they are. */
struct agent_table;
uint32_t limpet_agent_tables(const struct agent_table **ret);
/* Notes another one, on any thread; 0 also where it was known. */
int limpet_agent_take_table(const char *name, uint64_t version, uint64_t instance, void **parts,
			    uint64_t part_count);

/* Who counts devices in this process, see counting_claim.h. */
uint32_t *limpet_agent_claim(void);

/* A residence begins. */
void rings_begin(const struct boot_libc *libc);

/* Maps what came; 0, -EBADF, -EPROTO, -errno of the mapping.  What was mapped before goes. */
int rings_take(int fd, uint64_t size) MUST_CHECK;

/* How many threads the tracer says that it has. */
unsigned rings_tracer_threads(void);

/* Unmaps it, unless a thread of the program's may be writing there still: then it goes at a later
 * call, once the tracer has seen that thread outside. */
void rings_drop(void);
