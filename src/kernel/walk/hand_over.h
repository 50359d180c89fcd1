/*
 * The end of a walk: sends its record, or registers and stack if it met code without known rules. A
 * BPF program cannot wait for a page fault: if memory is not resident, the host continues the walk.
 */
#pragma once

#include "kernel/base/events.h"
#include "kernel/walk/walk.h"

/* Kernel frames, registers, and pages of the stack. */
struct raw_record {
	struct sample sample;
	__u64 words[KERNEL_FRAMES_MAX +
		    (sizeof(struct pt_regs) + KERNEL_RAW_PAGES * PAGE_SIZE) / sizeof(__u64)];
};

_Static_assert(sizeof(struct raw_record) <= 32 << 10, "a processor's part of a map has no more");

/* Each object file has its own: a tick of cycles (an NMI) may interrupt a switch. */
MAP(RAW_SCRATCH, BPF_MAP_TYPE_PERCPU_ARRAY, 1, struct raw_record);

/* Sends registers and stack unchanged, for the host to walk; fewer pages while the host is behind,
 * because other threads need the room as well. */
ALWAYS_INLINE void send_raw(struct walk *walk)
{
	__u64 at = walk->sample.kernel_count * sizeof(__u64);
	__u64 address = REGISTERS_SP(&walk->registers) & ~7ull;
	__u32 zero = 0, size;
	struct raw_record *raw = bpf_map_lookup_elem(&RAW_SCRATCH, &zero);
	int is_behind = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >
			bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE) / 4;
	int pages = is_behind ? KERNEL_RAW_PAGES_BEHIND : KERNEL_RAW_PAGES;

	if (!raw)
		return;
	BOUND(at, 1023);
	raw->sample = walk->sample;
	bpf_probe_read_kernel(raw->words, at, walk->frames);
	*(struct pt_regs *)((__u8 *)raw->words + at) = walk->registers;
	at += sizeof(struct pt_regs);
	for (int i = 0; i < KERNEL_RAW_PAGES && i < pages; i++) {
		size = PAGE_SIZE - (address & (PAGE_SIZE - 1));
		if (at > sizeof(raw->words) - PAGE_SIZE ||
		    bpf_probe_read_user((__u8 *)raw->words + at, size, (void *)address))
			break;
		at += size;
		address += size;
	}
	raw->sample.flags |= KERNEL_RAW;
	raw->sample.user_count = at / sizeof(__u64) - raw->sample.kernel_count;
	send(raw, sizeof(raw->sample) + at);
}

ALWAYS_INLINE void add_rest(struct walk *walk)
{
	__u64 at = walk->sample.kernel_count + walk->sample.user_count;

	BOUND(at, FRAMES_MASK);
	*(struct kernel_rest *)(walk->frames + at) = (struct kernel_rest){
		.pc = walk->pc,
		.sp = walk->sp,
		.fp = walk->fp,
		.lr = walk->lr,
		.is_exact = walk->is_exact,
		.is_sp_lost = walk->is_sp_lost,
	};
	walk->sample.flags |= KERNEL_REST;
	walk->sample.user_count += sizeof(struct kernel_rest) / sizeof(__u64);
}

ALWAYS_INLINE void hand_over(struct walk *walk, struct kernel_process *process, struct ids ids)
{
	if ((walk->unknown && ask_for_ranges(process, ids, walk->unknown)) || walk->is_for_host) {
		send_raw(walk);
		return;
	}
	if (walk->sample.end == STACK_UNREADABLE && !walk->seeking)
		add_rest(walk);
	send(&walk->sample, record_size(walk));
}
