/*
 * HSA kernels and copies in flight, by their completion signals.
 */
#pragma once

#include "target/amd/events/events.h"

struct counter_set;

struct hsa_command {
	enum trace_domain domain; /* DOMAIN_KERNEL, DOMAIN_COPY */
	bool has_our_signal;
	uint64_t signal;
	int64_t done_at; /* signal value at completion: this or less */
	uint64_t asked;  /* when it was enqueued, in ticks */
	uint64_t cause, thread;
	uint64_t agent, device, from_device, queue;
	uint64_t dispatch; /* a kernel's number, from 1 */
	uint64_t object;   /* in a kernel's packet */
	const char *name;  /* of the kernel; NULL: unknown */
	uint64_t ring_name;
	uint32_t grid[3], group[3], private_bytes, group_bytes;
	uint64_t size, to, from, direction; /* of a copy */
	bool is_hidden;                     /* a kernel that is followed for its counters only */
	struct counter_set *counted;        /* the set around a kernel; NULL: none */
	uint64_t counted_use;               /* the number of the set's use */
};

/* Maps the slots for a session; -ENOMEM. */
int pending_open(void) MUST_CHECK;
void pending_close(void);

/* Holds a slot for a command that waits for the signal; 0 if there is no room. A signal with held
 * or waiting slots is not destroyed, see pending_has(). */
uint64_t pending_hold(uint64_t signal);
/* Fills the held slot; false: another thread has dropped it. */
bool pending_fill(uint64_t token, const struct hsa_command *command);

/* Adds a command; false if there is no room. */
bool pending_add(const struct hsa_command *command);

/* Number of commands that wait for the signal. */
unsigned pending_count_of(uint64_t signal);

/* Takes a command that has ended if the signal has that value (the lowest: any). Give it back after
 * the last read of the signal, or put it back to let it wait. 0: there is none. */
uint64_t pending_acquire(uint64_t signal, int64_t value, struct hsa_command *ret);
void pending_release(uint64_t token);
bool pending_put_back(uint64_t token);

/* Visits all commands that wait for limpet's signals; removes those for which `is_over` is true. */
void pending_each_ours(bool (*is_over)(const struct hsa_command *command));

/* True if a command waits for that signal, or a thread has taken one. */
bool pending_has(uint64_t signal);
/* Frees the signal's slots: the thread that took them has ended, or left by longjmp. */
void pending_drop(uint64_t signal);

/* Removes the command of that call; false if there is none. */
bool pending_cancel(uint64_t signal, uint64_t cause);

/* Number of all commands, and of those with limpet's signals that were asked for before, in ticks.
 */
uint32_t pending_count(void);
uint32_t pending_count_ours(uint64_t before);

/* A command as an event, without its times. */
struct dispatch_event hsa_kernel_event(const struct hsa_command *command);
