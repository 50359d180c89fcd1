/*
 * What the files about kernels and copies of HSA share, see work.h.
 *
 * work.c        sessions, and what is known of the runtime
 * state.c       what is seen at present, and what is counted
 * packets.c     kernels, from the packets of queues
 * copies.c      copies
 * ends.c        calls that tell the program of its signals, by which all of them end
 * done.c        what is done is asked for its times, and written
 */
#pragma once

#include "target/domains/amd/hsa/pending.h"
#include "target/domains/amd/hsa/work.h"

/* state.c */
bool hsa_is_seen(enum trace_domain domain);
/* Are packets of queues looked at? */
bool hsa_sees_packets(void);
bool hsa_is_any_seen(void);
void hsa_note_lost(void);
/* Signals of ours that are awaited; one is discounted when what it told of is written, since the
 * end of a session waits until there is none. */
void hsa_count_ours(void);
void hsa_discount_ours(void);
uint32_t hsa_ours(void);
/* Those and others are lost with their runtime. */
void hsa_forget_ours(void);
uint32_t hsa_lost_ours(void);
void hsa_note_unseen(uint32_t count);
uint32_t hsa_unseen(void);
uint32_t hsa_lost(void);
/* For a session that begins; which are seen from now on, and which are, as bits. */
void hsa_counts_clear(void);
void hsa_see(bool kernels, bool copies, bool counters);
uint32_t hsa_seen(void);

/* done.c: the program has found this value in a signal of its own. */
void hsa_look_at_signal(uint64_t signal, int64_t value);
/* What signals of ours tell, though the runtime has not called yet. */
void hsa_finish_ours(void);
/* Another thread may be about to destroy a signal that commands wait for: it does not while one of
 * them is taken. */
void hsa_look_at_awaited(uint64_t signal);
void hsa_write_done(const struct hsa_command *command, const struct hsa_time *time);
/* From now on times of copies are not known to be kept; and they are not to be kept for us. */
void hsa_copy_times_begin(void);
void hsa_copy_times_end(void);

/* packets.c: notes a command in a slot that is held for it; the signal is there as long. */
bool hsa_follow_signal(struct hsa_command *command, uint64_t signal, uint64_t token);
