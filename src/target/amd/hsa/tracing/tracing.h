/*
 * Kernels and copies by the packets and signals of HSA.
 *
 * No object of the application is replaced. Packets are read before their doorbell is rung. A
 * kernel with a completion signal, and a copy, have ended when the application finds its signal
 * decremented (it waits, loads, stores to it or destroys it): then their times are queried. A
 * kernel without a completion signal gets one of limpet's.
 *
 * tracing.c     who wants what; queues and executables of the runtime
 * packets.c     kernels, by the packets of queues
 * copies.c      copies
 * ends.c        calls by which the application reads its signals
 * done.c        times of completed commands
 */
#pragma once

#include "target/amd/events/events.h"
#include "target/amd/hsa/functions.h"
#include "target/amd/hsa/pending.h"
#include "target/amd/tables/call.h"

enum hsa_user { USER_RING, USER_TOOLS, HSA_USERS };

/* What a user wants to be traced. */
struct hsa_wanted {
	bool kernels, copies;
	bool counters; /* of kernels, for the ring: packets are followed for their times */
};
/* Sets what `wants` returns, one thread at a time; on any thread. False: the runtime lacks
 * functions. */
bool hsa_trace(enum hsa_user user, struct hsa_wanted (*wants)(void));

/* The user has ended. Waits, up to a limit, for limpet's signals in packets from before. */
struct hsa_left {
	uint32_t cut;    /* limpet's signals whose handlers were not called */
	uint32_t unseen; /* kernels and copies whose signals the application has not read */
	uint32_t lost;   /* commands that could not be noted */
};
struct hsa_left hsa_trace_end(enum hsa_user user);
/* Frees what was made for tracing, if no user is left: in the gate, and if the runtime is gone.
 * Needed before the end of the runtime can happen unseen. */
bool hsa_trace_is_left(void);
void hsa_trace_free(void);
void hsa_trace_forget(void);
/* The runtime was shut down: commands under way are lost. */
void hsa_trace_forget_runtime(void);
/* In exit(), on an application thread: completes commands that have ended. */
void hsa_trace_finish(void);
/* In a forked child. */
void hsa_trace_adopt(void);

/* True if the domain is traced by packets and signals. On any thread. */
bool hsa_is_traced(enum trace_domain domain);
/* True if packets of queues are handled; also copies. */
bool hsa_sees_packets(void);
bool hsa_sees_any(void);
void hsa_note_lost(void);

/* done.c: counts limpet's signals in packets; one is discounted after its event is reported,
 * because the end of a session waits for 0. */
void hsa_count_ours(void);
void hsa_discount_ours(void);
uint32_t hsa_ours(void);
uint32_t hsa_forget_ours(void);
/* The application has read this value from one of its signals. */
void hsa_check_signal(uint64_t signal, int64_t value);
/* Completes commands with limpet's signals whose handlers were not called yet. */
void hsa_finish_ours(void);
/* Another thread may be about to destroy the signal: it waits while a command of it is taken. */
void hsa_check_awaited(uint64_t signal);
void hsa_report_done(const struct hsa_command *command, const struct hsa_time *time);
/* Begin: it is unknown whether copies have times. End: limpet needs no times of copies any more. */
void hsa_copy_times_begin(void);
void hsa_copy_times_end(void);

/* packets.c: notes a command in its held slot, which keeps the signal from being destroyed. */
bool hsa_follow_signal(struct hsa_command *command, uint64_t signal, uint64_t token);

/* Around calls of HSA. */
void hsa_after_queue_create(struct call_frame *frame, uint64_t end);
void hsa_after_index(struct call_frame *frame, uint64_t end);
void hsa_before_signal(struct call_frame *frame);
void hsa_before_signal_destroy(struct call_frame *frame);
void hsa_after_load(struct call_frame *frame, uint64_t end);
void hsa_after_wait_any(struct call_frame *frame, uint64_t end);
void hsa_after_wait_all(struct call_frame *frame, uint64_t end);
void hsa_before_copy(struct call_frame *frame);
void hsa_before_rect(struct call_frame *frame);
void hsa_after_copy(struct call_frame *frame, uint64_t end);
