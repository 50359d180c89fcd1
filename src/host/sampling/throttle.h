/*
 * A collector that runs before all others must not take the machine for itself: where samples cost
 * it more than its share, only one in so many is taken, and stands for the others.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct throttle {
	uint64_t begun_ns, used_ns; /* when the last judgement was, and our processor time then */
	uint32_t every;             /* one in so many is taken; 0 and 1: all are */
	uint32_t most;              /* that it ever was */
	uint64_t taken;             /* samples since then; counted by whoever takes them */
	uint64_t drawn;             /* the last random number; 0: none yet */
	uint64_t others_ns;         /* processor time of our other threads; whoever has them */
};

/* By the processor time of the calling thread and of others of ours, as far as samples can have
 * cost it: fewer of them would not help where processes come and go.  True when `every` is another
 * one from now on. */
bool throttle_adjust(struct throttle *throttle);
/* Of a sample that has come: what it stands for; 0: it is left out.  Counts it. */
uint32_t throttle_take(struct throttle *throttle);
