/*
 * Kernels and copies of programs that use HSA without HIP.
 *
 * Nothing of the program's is replaced.  Packets are read when their doorbell is about to be rung.
 * A kernel whose packet has a completion signal, and a copy, are done when the program finds its
 * signal counted down (it waits, loads, stores to it or destroys it): then their times are asked.
 * A kernel whose packet has none gets a signal of ours.
 */
#pragma once

#include "target/domains/amd/counters/counters.h"
#include "target/hooks/hook.h"

/* Once a session; bits of the domains that are seen from now on, or can be.  On threads of ours. */
struct hsa_wanted {
	bool kernels, copies;
	bool counters; /* of kernels, see counters_begin() */
	bool windows;  /* of devices, likewise */
};
uint32_t hsa_work_begin(const struct hsa_slots *core, const struct hsa_slots *amd_ext,
			const struct hsa_wanted *wanted);

/* HIP is there after all, and tells all that is done. */
void hsa_work_leave_to_hip(void);

/* No more is looked at; waits for the signals of ours, for a while, and gives them back. */
struct hsa_left {
	uint32_t cut;    /* signals of ours that have not called */
	uint32_t unseen; /* kernels and copies whose signal the program has not looked at */
	uint32_t lost;   /* there was no room to note them */
	struct counters_left counters;
} hsa_work_end(void);
/* In exit(), on the program's thread: what is done is counted. */
void hsa_work_leave(void);
void hsa_work_forget(void);

/* The hooks. */
traced_before hsa_before_doorbell, hsa_before_signal, hsa_before_signal_destroy,
	hsa_before_queue_destroy, hsa_before_executable_destroy, hsa_before_copy, hsa_before_rect,
	hsa_before_add, hsa_before_store_index;
traced_after hsa_after_queue_create, hsa_after_index, hsa_after_load, hsa_after_freeze,
	hsa_after_copy, hsa_after_wait_any, hsa_after_wait_all, hsa_after_add, hsa_after_cas,
	hsa_after_queue_destroy;
