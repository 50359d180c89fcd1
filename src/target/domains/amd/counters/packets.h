/*
 * What aqlprofile has of ours.  It keeps every set of packets in a list of its own, with our
 * functions and the set's address, until it is given back; the list ends in exit(), of the program
 * and of each forked child, and our function is called for the memory of all that is still in it.
 * A set that could not be made stays in it, too, and nobody can give it back.
 *
 * So memory is not freed by that function but here, by whoever gives a set back, and the function
 * is a notice: where it comes for a set that we have, the list is ending, and is not asked any
 * more. This library is never unmapped, and sets are static: both outlive the list.
 */
#pragma once

#include "target/domains/amd/counters/devices.h"

/* Which memory it is given.  On threads of ours. */
void packets_use(const struct aqlprofile *library, uint64_t pool);

/* Fills in handle and packets.  False: nothing of it is left with us. */
bool packets_make(struct counter_set *set, struct pmc_profile profile);
/* With the runtime there.  False: the program is ending, and all of it stays. */
bool packets_give_back(struct counter_set *set);
/* The runtime is gone, and the memory with it. */
void packets_drop(struct counter_set *set);
/* What the device has read.  False: not all of it was visited. */
bool packets_read(const struct counter_set *set, pmc_visit *visit, void *data);

/* We are a forked child: the list is a copy of the parent's, and may be locked for ever. */
void packets_forget_parent(void);
