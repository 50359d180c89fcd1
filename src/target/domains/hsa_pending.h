/*
 * Kernels and copies of HSA programs that are under way, by the signal that tells their end.
 */
#pragma once

#include "target/domains/domain.h"

struct hsa_command {
	enum trace_domain domain; /* DOMAIN_KERNEL, DOMAIN_COPY */
	bool has_our_signal;
	uint64_t signal;
	int64_t done_at; /* the value of the signal when it is done, or less */
	uint64_t asked;  /* when, in ticks */
	uint64_t cause, thread;
	uint64_t agent, device, from_device, queue;
	uint64_t name, grid[3], group[3], private_bytes, group_bytes;
	uint64_t size, to, from, direction; /* of a copy */
};

/* Room for a session; -ENOMEM. */
int pending_open(void) MUST_CHECK;
void pending_close(void);

/* Notes one; false when there is no room. */
bool pending_add(const struct hsa_command *command);

/* How many wait for the signal. */
unsigned pending_count_of(uint64_t signal);

/* Takes one that is done when the signal has that value (the lowest: any): its number, to be given
 * back when the signal is no longer looked at; 0 when there is none. */
uint32_t pending_take(uint64_t signal, int64_t value, struct hsa_command *ret);
void pending_give_back(uint32_t number);

/* Has somebody taken one of that signal, and not given it back? */
bool pending_is_taken(uint64_t signal);

/* Takes the one of that call; false when it is gone. */
bool pending_cancel(uint64_t signal, uint64_t cause);

/* How many there are. */
uint32_t pending_count(void);
