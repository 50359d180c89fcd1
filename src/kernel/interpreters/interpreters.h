/*
 * The functions of the interpreter that a thread runs, in any known language.
 */
#pragma once

#include "kernel/interpreters/chain.h"
#include "kernel/interpreters/luajit.h"
#include "kernel/interpreters/python.h"

ALWAYS_INLINE void chain_take(struct chain_climb *climb, __u32 pid, __u32 tid)
{
	__u8 frames = climb->chain->layout.frames;

	if (frames == KERNEL_FRAMES_PYTHON) {
		python_take(climb, tid);
	} else if (frames == KERNEL_FRAMES_LUA) {
		lua_take(climb);
	} else if (frames == KERNEL_FRAMES_LUAJIT) {
		luajit_take(climb);
	} else {
		chained_find(climb, pid, tid);
		if (frames == KERNEL_FRAMES_CONTEXTS)
			contexts_take(climb);
		else
			chained_take(climb);
	}
}

/* NULL: the process has no known interpreter. */
ALWAYS_INLINE struct chain *interpreter_take(struct walk *walk, struct task_struct *task)
{
	struct chain_climb climb = { .base = { walk, task } };
	__u32 pid = walk->sample.pid, tid = walk->sample.tid, zero = 0;
	struct kernel_interpreter *layout;

	if (settings.has_no_interpreter)
		return 0;
	layout = bpf_map_lookup_elem(&interpreters, &pid);
	climb.chain = layout ? bpf_map_lookup_elem(&CHAIN_SCRATCH, &zero) : 0;
	if (!climb.chain)
		return 0;
	climb.chain->layout = *layout;
	climb.chain->count = 0;
	climb.chain->frame = 0;
	chain_take(&climb, pid, tid);
	return climb.chain;
}

/* Sent before the record of their walk. */
ALWAYS_INLINE void interpreter_send(struct chain *chain, const struct walk *walk)
{
	__u64 count;

	if (!chain || !chain->count)
		return;
	count = chain->count;
	BOUND(count, INTERPRETED_FRAMES_MAX);
	chain->sample = walk->sample;
	chain->sample.kind = KERNEL_EVENT_INTERPRETED;
	chain->sample.flags = 0;
	chain->sample.kernel_count = 0;
	chain->sample.user_count = count * 2;
	send(&chain->sample, sizeof(struct sample) + count * sizeof(struct interpreted_frame));
}

/* A child has its parent's memory. */
ALWAYS_INLINE void interpreter_pass_on(__u32 to, __u32 from)
{
	struct kernel_interpreter *layout = bpf_map_lookup_elem(&interpreters, &from);

	if (layout)
		bpf_map_update_elem(&interpreters, &to, layout, BPF_ANY);
}
