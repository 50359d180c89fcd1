/*
 * STAND-IN, for tests only.  The few functions of HSA that the stand-in libhsa-runtime64.so.2
 * exports.
 */
#pragma once

#include <stdint.h>

struct hsa_signal {
	uint64_t handle;
};

int hsa_init(void);
int hsa_shut_down(void);
int hsa_signal_create(int64_t value, uint32_t consumer_count, const void *consumers,
		      struct hsa_signal *ret);
int64_t hsa_signal_load_relaxed(struct hsa_signal signal);
void hsa_signal_store_relaxed(struct hsa_signal signal, int64_t value);

/* The tables, after hsa_init(). */
void standin_hsa_print(void);
