/*
 * AMD's aqlprofile, the library that writes the packets which make a device count. Loaded by name
 * when counters are first requested, and never unloaded.
 */
#pragma once

#include "target/amd/hsa/layouts.h"

#include <stdbool.h>

/* The next four structs have aqlprofile's layout. */
struct pmc_agent {
	uint64_t handle;
};

struct pmc_agent_info {
	const char *gfxip;
	uint32_t xccs, engines, units, arrays_per_engine, domain, location;
};

struct pmc_event {
	uint32_t instance, event, flags, block;
};

struct pmc_profile {
	struct pmc_agent agent;
	const struct pmc_event *events;
	uint32_t count;
};

/* In the order in which the queue gets them; the caller sets headers and signals. */
struct pmc_packets {
	struct hsa_packet start, stop, read;
};

typedef int pmc_allocate(void **ret, uint64_t size, uint32_t flags, void *data);
typedef void pmc_free(void *memory, void *data);
typedef int pmc_copy(void *to, const void *from, size_t size, void *data);
typedef int pmc_visit(struct pmc_event event, uint64_t sample, uint64_t value, void *data);
typedef int pmc_visit_place(int position, int id, int extent, int coordinate, const char *name,
			    void *data);

struct pmc_block {
	const char *name;
	uint32_t id, instances;
};

/* Values of `what` for get_info(). */
#define PMC_BLOCK_COUNTERS 4
#define PMC_BLOCK_ID       5
#define PMC_AGENT_VERSION  2

struct aqlprofile {
	int (*register_agent)(struct pmc_agent *ret, const struct pmc_agent_info *info,
			      int version);
	int (*get_info)(const struct pmc_profile *profile, int what, void *ret);
	int (*is_valid)(struct pmc_agent agent, const struct pmc_event *event, bool *ret);
	int (*create)(uint64_t *ret, struct pmc_packets *packets, struct pmc_profile profile,
		      pmc_allocate *allocate, pmc_free *give_back, pmc_copy *copy, void *data);
	int (*iterate)(uint64_t handle, pmc_visit *visit, void *data);
	int (*place)(struct pmc_agent agent, struct pmc_event event, uint64_t sample,
		     pmc_visit_place *visit, void *data);
	void (*give_back)(uint64_t handle);
};

/* NULL: aqlprofile is not installed, or of another version. Called on limpet's threads. */
const struct aqlprofile *aqlprofile_load(void);
