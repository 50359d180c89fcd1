/*
 * Packet sets, and what aqlprofile keeps of them. Each library that counts has its own copy of this
 * file. aqlprofile keeps every set in a list, with limpet's callbacks and the set's address, until
 * the set is deleted. exit() ends the list, in the target and in each forked child, and calls
 * limpet's free callback for the memory of every set still in it. A set whose creation failed stays
 * in the list, too, and cannot be deleted.
 *
 * So the callback frees nothing: packet_set_give_back() frees the memory. A callback for a listed
 * set means that the list is ending, and aqlprofile is not called any more. A library that has
 * created a set is never unmapped, and sets are static: both outlive the list.
 */
#pragma once

#include "target/amd/counters/aqlprofile.h"

#define PACKET_MEMORY_MAX 4u

enum packet_listing { LISTED_NOT, LISTED = -1 };

struct packet_set {
	uint64_t agent; /* the HSA agent of the device; filled in by the caller */
	uint64_t handle;
	struct pmc_packets packets;
	void *memory[PACKET_MEMORY_MAX]; /* the packets, and what they write */
	uint32_t memory_count;
	int32_t listed; /* by aqlprofile: enum packet_listing, or the tid of its creator */
};

/* HSA's functions, and the memory pool that packets are allocated from. */
struct packet_memory {
	uint64_t pool;
	int (*allocate)(uint64_t pool, size_t size, uint32_t flags, void **ret);
	int (*free)(void *memory);
	int (*allow_access)(uint32_t count, const uint64_t *agents, const uint32_t *flags,
			    const void *memory);
};

/* Called on limpet's threads, before the other functions. */
void packet_sets_use(const struct aqlprofile *library, const struct packet_memory *memory);

/* Enclose every other call into aqlprofile. False: the process is in exit(). */
bool packet_sets_enter(void);
void packet_sets_leave(void);

/* Fills in handle and packets. False: the set owns no memory. */
bool packet_set_make(struct packet_set *set, struct pmc_profile profile);
/* Called while the runtime is up. False: the process is in exit(), and nothing is freed. */
bool packet_set_give_back(struct packet_set *set);
/* Forgets the memory: the runtime is gone, and its memory with it, or may be gone. */
void packet_set_drop(struct packet_set *set);
/* Visits what the device has read. False: not all of it was visited. */
bool packet_set_read(const struct packet_set *set, pmc_visit *visit, void *data);
/* Returned by a visit to stop it, as an error: aqlprofile reports its own break code as success. */
#define PACKET_STOP_VISIT 0x1000

/* Has this library, or its copy in the parent process, given callbacks to aqlprofile? */
bool packet_sets_were_made(void);

/* In exit(): no more calls of aqlprofile. Waits one second at most for threads that are inside. */
void packet_sets_end(void);

/* In a forked child: the list is a copy of the parent's, and its lock may be held for ever. */
void packet_sets_forget_parent(void);
