/*
 * Kernels and copies of HSA programs that are under way, by the signal that tells their end.
 */
#pragma once

#include "shared/wire/record.h"

struct counter_set;

struct hsa_command {
	enum trace_domain domain; /* DOMAIN_KERNEL, DOMAIN_COPY */
	bool has_our_signal;
	uint64_t signal;
	int64_t done_at; /* the value of the signal when it is done, or less */
	uint64_t asked;  /* when, in ticks */
	uint64_t cause, thread;
	uint64_t agent, device, from_device, queue;
	uint64_t dispatch; /* of a kernel: its number, from 1 */
	uint64_t name, grid[3], group[3], private_bytes, group_bytes;
	uint64_t size, to, from, direction; /* of a copy */
	bool is_hidden;                     /* a kernel that is looked at for its counters only */
	struct counter_set *counted;        /* the set around a kernel; NULL: none */
	uint64_t counted_use;               /* and which of its uses */
};

/* Room for a session; -ENOMEM. */
int pending_open(void) MUST_CHECK;
void pending_close(void);

/* A slot for one that waits for the signal, as long as it is not filled in or given back; 0 when
 * there is no room.  While a signal has such slots it is not destroyed, see pending_has(). */
uint64_t pending_hold(uint64_t signal);
/* False: it was taken away meanwhile. */
bool pending_fill(uint64_t token, const struct hsa_command *command);

/* Notes one; false when there is no room. */
bool pending_add(const struct hsa_command *command);

/* How many wait for the signal. */
unsigned pending_count_of(uint64_t signal);

/* Takes one that is done when the signal has that value (the lowest: any), to be given back when
 * the signal is no longer looked at, or put back when it is to wait on; 0 when there is none. */
uint64_t pending_take(uint64_t signal, int64_t value, struct hsa_command *ret);
void pending_give_back(uint64_t token);
bool pending_put_back(uint64_t token);

/* Shows all that wait for signals of ours, each to be given back when `is_over` says so. */
void pending_each_ours(bool (*is_over)(const struct hsa_command *command));

/* Does one wait for that signal, or has somebody one that did? */
bool pending_has(uint64_t signal);
/* Whoever has those has died, or has left by longjmp: nobody waits for him any more. */
void pending_drop(uint64_t signal);

/* Takes the one of that call; false when it is gone. */
bool pending_cancel(uint64_t signal, uint64_t cause);

/* How many there are. */
uint32_t pending_count(void);
