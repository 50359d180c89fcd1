/*
 * Maps shared by the programs and the host. The host sizes the tables before it loads the first
 * object, and passes its maps to the others by name.
 */
#pragma once

#include "kernel/base/types.h"
#include "shared/unwind/row.h"

#define TABLE(name, value_type)                    \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1);            \
		__type(key, __u32);                \
		__type(value, value_type);         \
	} name SEC(".maps")

TABLE(rows, struct unwind_row);
TABLE(pages, struct kernel_page);
TABLE(specials, struct unwind_special);
TABLE(ranges, struct kernel_range);
TABLE(counts, struct kernel_counts);

MAP(processes, BPF_MAP_TYPE_HASH, KERNEL_PROCESSES_MAX, struct kernel_process);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

ALWAYS_INLINE struct kernel_counts *counts_of_all(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

ALWAYS_INLINE void send_with(const void *record, __u64 size, __u64 flags)
{
	struct kernel_counts *all = counts_of_all();

	if (bpf_ringbuf_output(&ring, (void *)record, size, flags) && all)
		__sync_fetch_and_add(&all->lost, 1);
}

/* Wakes no process: the host polls every few milliseconds. */
ALWAYS_INLINE void send(const void *record, __u64 size)
{
	send_with(record, size, BPF_RB_NO_WAKEUP);
}
