/*
 * The packets by which a device counts what a config has, and what it counted.
 */
#pragma once

#include "target/runtime/amd/aqlprofile.h"
#include "target/sdk/counters/configs.h"
#include "target/sdk/counters/hsa_functions.h"

#define PACKET_VALUES_MAX 2048u
#define PACKET_EVENTS_MAX 1024u
#define PLACE_BITS        8u /* of each dimension */

/* One value, and where it was counted. */
struct counted_value {
	uint64_t place;
	uint64_t value;
	uint32_t event; /* of the catalog */
};

struct counter_packets {
	const struct aqlprofile *library; /* NULL: there are none */
	const struct hsa_functions *hsa;
	struct pmc_agent agent;
	uint64_t hsa_agent, pool;
	uint64_t handle;
	struct pmc_packets packets;
	const struct counter_config *config;
	uint32_t event_count, count;
	struct pmc_event events[PACKET_EVENTS_MAX]; /* one for each instance of a block */
	struct counted_value values[PACKET_VALUES_MAX];
};

/* All that needs no runtime.  A status; hsa, the config and `ret` stay where they are as long. */
int packets_prepare(struct counter_packets *ret, const struct hsa_functions *hsa,
		    const struct counter_config *config);
/* Then, inside the gate, as the next two.  A status. */
int packets_make(struct counter_packets *packets);
/* The device is done with them. */
void packets_free(struct counter_packets *packets);

/* What the device has read, into values; false: it is not whole. */
bool packets_read(struct counter_packets *packets);
