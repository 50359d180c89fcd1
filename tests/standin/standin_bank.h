/*
 * STAND-IN, for tests only.  The counters of the stand-in devices, and the command buffers by which
 * the stand-in aqlprofile tells them what to do.  Each device has one bank: whoever starts it anew
 * takes it away from the one before, and kernels that run at the same time are counted together.
 */
#pragma once

#include "standin_hsa.h"

#include <stdbool.h>

enum { BANK_XCCS = 2, BANK_ENGINES = 4, BANK_CHANNELS = 4 };
enum { BANK_EVENTS_MAX = 64, BANK_VALUES = BANK_XCCS * BANK_ENGINES };

enum bank_block { BLOCK_SQ = 1, BLOCK_GRBM, BLOCK_TCC, BLOCK_CPF, BLOCK_SPI, BLOCKS };

struct bank_event {
	uint32_t instance, event, flags, block;
};

enum bank_command { BANK_START = 1, BANK_STOP, BANK_READ };

/* What a packet points to.  Memory that was given back is poisoned: a device that finds no magic
 * ends the program. */
#define BANK_MAGIC 0x6b6e6162u
struct bank_commands {
	uint32_t magic, command, count;
	struct bank_event events[BANK_EVENTS_MAX];
	uint64_t (*values)[BANK_VALUES]; /* one for each XCC and engine, of each event */
};

/* A packet of the vendor's.  is_counted: whether waves of the queue count; set by a start. */
void standin_bank_obey(uint32_t node, const struct hsa_packet *packet, bool *is_counted);
/* A kernel has run from that time to now, both in nanoseconds. */
void standin_bank_count(uint32_t node, const struct hsa_packet *packet, bool is_counted,
			uint64_t cycles);
