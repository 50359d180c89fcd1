/*
 * Kernels and copies of programs that use HSA without HIP.
 *
 * No object of the application is replaced. Packets are read before their doorbell is rung. A
 * kernel with a completion signal, and a copy, have ended when the application finds its signal
 * decremented (it waits, loads, stores to it or destroys it): then their times are queried. A
 * kernel without a completion signal gets one of limpet's.
 */
#pragma once

#include "target/domains/amd/counters/counters.h"
#include "target/hooks/hook.h"

/* Begins, once a session; returns the traced domains as bits. On limpet's threads. */
struct hsa_wanted {
	bool kernels, copies;
	bool counters; /* of kernels, see counters_begin() */
	bool windows;  /* of devices, likewise */
};
uint32_t hsa_work_begin(const struct hsa_slots *core, const struct hsa_slots *amd_ext,
			const struct hsa_wanted *wanted);

/* HIP was loaded later, and reports all commands itself. */
void hsa_work_leave_to_hip(void);

/* Stops handling packets; waits for limpet's signals, up to a limit, and frees them. */
struct hsa_left {
	uint32_t cut;    /* limpet's signals whose handlers were not called */
	uint32_t unseen; /* kernels and copies whose signals the application has not read */
	uint32_t lost;   /* commands that could not be noted */
	struct counters_left counters;
} hsa_work_end(void);
/* In exit(), on an application thread: completes commands that have ended. */
void hsa_work_leave(void);
void hsa_work_forget(void);

traced_before hsa_before_doorbell, hsa_before_signal, hsa_before_signal_destroy,
	hsa_before_queue_destroy, hsa_before_executable_destroy, hsa_before_copy, hsa_before_rect,
	hsa_before_add, hsa_before_store_index;
traced_after hsa_after_queue_create, hsa_after_index, hsa_after_load, hsa_after_freeze,
	hsa_after_copy, hsa_after_wait_any, hsa_after_wait_all, hsa_after_add, hsa_after_cas,
	hsa_after_queue_destroy;
