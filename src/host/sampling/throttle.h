/*
 * A collector with the highest priority must not use up the machine: where samples cost more than
 * its share, only one in so many is kept, and stands for the others.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct throttle {
	uint64_t begun_ns, used_ns; /* at the last adjustment, and processor time then */
	uint32_t every;             /* one in so many is kept; 0 and 1: all are */
	uint32_t most;              /* the maximum so far */
	uint64_t taken;             /* samples since then; counted by their reader */
	uint64_t drawn;             /* the last random number; 0: none yet */
	uint64_t others_ns;         /* processor time of other threads, set by their owner */
};

/* Uses the processor time of the calling thread and of limpet's other threads, as far as samples
 * can have cost it: fewer samples would not help where processes start and end.  True when `every`
 * has changed. */
bool throttle_adjust(struct throttle *throttle);
/* The weight of a new sample; 0: it is dropped.  Counts it. */
uint32_t throttle_take(struct throttle *throttle);
