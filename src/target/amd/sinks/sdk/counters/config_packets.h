/*
 * The packets that make a device count a config's events, and the values they return.
 */
#pragma once

#include "target/amd/counters/packet_sets.h"
#include "target/amd/sinks/sdk/counters/configs.h"

#define PACKET_VALUES_MAX 2048u
#define PACKET_EVENTS_MAX 1024u

struct hsa_functions;

struct config_packets {
	struct counter_config config; /* a copy: the tool may destroy its config */
	const struct aqlprofile *library;
	struct pmc_agent agent;
	uint32_t blocks[CONFIG_EVENTS_MAX]; /* aqlprofile's block numbers of the config's events */
};

/* Events in aqlprofile's form: one for each instance of a block. */
struct packet_events {
	struct pmc_event items[PACKET_EVENTS_MAX];
	uint32_t count;
};

/* One value, and its position in the device. */
struct counted_value {
	uint64_t place;
	uint64_t value;
	uint32_t event; /* index in the catalog */
};

struct counted_values {
	struct counted_value items[PACKET_VALUES_MAX];
	uint32_t count;
	bool is_whole;
};

/* What needs no runtime. Enters the loader, so call it outside the gate. Returns a status. */
int config_packets_prepare(struct config_packets *ret, const struct counter_config *config,
			   struct packet_events *events);
/* Then, inside the gate: makes the packet set, whose address must not change until it is deleted. A
 * status; HSA_NOT_LOADED: the runtime does not know the device yet. */
int config_packets_make(const struct config_packets *self, const struct hsa_functions *hsa,
			const struct packet_events *events, struct packet_set *ret);

/* Reads the counted values. False: the values are incomplete and must not be used. */
bool config_packets_read(const struct config_packets *self, const struct packet_set *set,
			 struct counted_values *ret);
