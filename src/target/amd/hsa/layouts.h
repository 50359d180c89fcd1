/*
 * Layouts of queues and packets, from the HSA standard.
 */
#pragma once

#include "shared/base/macros.h"

struct hsa_queue {
	uint32_t type, features;
	uint64_t base, doorbell;
	uint32_t size, reserved; /* size in packets, a power of two */
	uint64_t id;
};

struct hsa_packet {
	uint16_t header, setup;
	uint16_t group[3], reserved0;
	uint32_t grid[3];
	uint32_t private_bytes, group_bytes;
	uint64_t kernel, arguments, reserved1;
	uint64_t completion; /* a signal; 0: none */
};
_Static_assert(sizeof(struct hsa_packet) == 64, "as in the standard");
_Static_assert(offsetof(struct hsa_packet, completion) == 56, "as in the standard");

/* Fields of the packet header. */
#define PACKET_TYPE    0xffu
#define PACKET_INVALID 1u
#define PACKET_KERNEL  2u
