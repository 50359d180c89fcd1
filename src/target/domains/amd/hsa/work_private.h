/*
 * Shared by the files about kernels and copies of HSA, see work.h.
 *
 * work.c        sessions; queues and executables of the runtime
 * state.c       the traced domains, and counts
 * packets.c     kernels, by the packets of queues
 * copies.c      copies
 * ends.c        calls by which the application reads its signals
 * done.c        times and records of completed commands
 */
#pragma once

#include "target/domains/amd/hsa/pending.h"
#include "target/domains/amd/hsa/work.h"

/* state.c */
bool hsa_is_seen(enum trace_domain domain);
/* True if packets of queues are handled. */
bool hsa_sees_packets(void);
bool hsa_is_any_seen(void);
void hsa_note_lost(void);
/* Counts limpet's signals in packets; one is discounted after its record is written, because the
 * end of a session waits for 0. */
void hsa_count_ours(void);
void hsa_discount_ours(void);
uint32_t hsa_ours(void);
/* Drops the counts: the signals are lost with their runtime. */
void hsa_forget_ours(void);
uint32_t hsa_lost_ours(void);
void hsa_note_unseen(uint32_t count);
uint32_t hsa_unseen(void);
uint32_t hsa_lost(void);
/* For a session that begins; sets the traced domains, and returns these as bits. */
void hsa_counts_clear(void);
void hsa_see(bool kernels, bool copies, bool counters);
uint32_t hsa_seen(void);

/* done.c: the application has read this value from one of its signals. */
void hsa_look_at_signal(uint64_t signal, int64_t value);
/* Completes commands with limpet's signals whose handlers were not called yet. */
void hsa_finish_ours(void);
/* Another thread may be about to destroy the signal: it waits while a command of it is taken. */
void hsa_look_at_awaited(uint64_t signal);
void hsa_write_done(const struct hsa_command *command, const struct hsa_time *time);
/* Begin: it is unknown whether copies have times. End: limpet needs no times of copies any more. */
void hsa_copy_times_begin(void);
void hsa_copy_times_end(void);

/* packets.c: notes a command in its held slot, which keeps the signal from being destroyed. */
bool hsa_follow_signal(struct hsa_command *command, uint64_t signal, uint64_t token);
