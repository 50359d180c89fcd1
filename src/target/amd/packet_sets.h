/*
 * Sets of packets, and what aqlprofile has of ours by them; one copy of this in each library that
 * counts.  It keeps every set in a list of its own, with our functions and the set's address, until
 * it is given back; the list ends in exit(), of the program and of each forked child, and our
 * function is called for the memory of all that is still in it.  A set that could not be made stays
 * in it, too, and nobody can give it back.
 *
 * So memory is not freed by that function but here, by whoever gives a set back, and the function
 * is a notice: where it comes for a set that we have, the list is ending, and is not asked any
 * more. A library that has made a set is never unmapped, and sets are static: both outlive the
 * list.
 */
#pragma once

#include "target/amd/aqlprofile.h"

#define PACKET_MEMORY_MAX 4u

enum packet_listing { LISTED_NOT, LISTED = -1 };

struct packet_set {
	uint64_t agent; /* HSA's, whose device has them; filled in by the caller */
	uint64_t handle;
	struct pmc_packets packets;
	void *memory[PACKET_MEMORY_MAX]; /* of its packets, and of what they write */
	uint32_t memory_count;
	int32_t listed; /* by aqlprofile: enum packet_listing, or the thread that makes it */
};

/* HSA's functions, and its pool that memory is taken from. */
struct packet_memory {
	uint64_t pool;
	int (*allocate)(uint64_t pool, size_t size, uint32_t flags, void **ret);
	int (*free)(void *memory);
	int (*allow_access)(uint32_t count, const uint64_t *agents, const uint32_t *flags,
			    const void *memory);
};

/* On threads of ours, before the rest. */
void packet_sets_use(const struct aqlprofile *library, const struct packet_memory *memory);

/* Around what else is asked of aqlprofile.  False: the program is ending. */
bool packet_sets_enter(void);
void packet_sets_leave(void);

/* Fills in handle and packets.  False: nothing of it is left with us. */
bool packet_set_make(struct packet_set *set, struct pmc_profile profile);
/* With the runtime there.  False: the program is ending, and all of it stays. */
bool packet_set_give_back(struct packet_set *set);
/* The runtime is gone, and the memory with it; or nobody knows whether. */
void packet_set_drop(struct packet_set *set);
/* What the device has read.  False: not all of it was visited. */
bool packet_set_read(const struct packet_set *set, pmc_visit *visit, void *data);
/* To be returned from a visit: an error.  What is only called a break ends as a success there. */
#define PACKET_STOP_VISIT 0x1000

/* Has aqlprofile been given functions of this library, or our parent's? */
bool packet_sets_were_made(void);

/* The program is ending: nothing is asked any more; waits for who is at it, for a while. */
void packet_sets_end(void);

/* We are a forked child: the list is a copy of the parent's, and may be locked for ever. */
void packet_sets_forget_parent(void);
