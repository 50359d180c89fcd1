/*
 * The few fields of kernel types that are used. libbpf inserts the running kernel's offsets when a
 * program is loaded (CO-RE), so the build needs no header of any kernel.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "shared/wire/kernel.h"

/* A map of __u32 keys. */
#define MAP(name, map_type, entries, value_type) \
	struct {                                 \
		__uint(type, map_type);          \
		__uint(max_entries, entries);    \
		__type(key, __u32);              \
		__type(value, value_type);       \
	} name SEC(".maps")

#define RELOCATED     __attribute__((preserve_access_index))
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* enum pid_type of the kernel. */
#define PIDTYPE_TGID 1

#define TASK_INTERRUPTIBLE   0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED         0x0004
#define TASK_TRACED          0x0008
#define TASK_DEAD            0x0080
#define TASK_NOLOAD          0x0400

#define PF_KTHREAD 0x00200000 /* in task_struct.flags */

struct ns_common {
	unsigned int inum;
} RELOCATED;

struct pid_namespace {
	struct ns_common ns;
} RELOCATED;

struct upid {
	int nr;
	struct pid_namespace *ns;
} RELOCATED;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} RELOCATED;

typedef struct {
	int counter;
} atomic_t;

struct mm_struct {
	unsigned long start_stack;
} RELOCATED;

struct signal_struct {
	atomic_t live;
	struct pid *pids[4];
} RELOCATED;

#if defined(__TARGET_ARCH_x86)
struct thread_struct {
	unsigned long fsbase;
} RELOCATED;
#endif

/* Both machines' fields: each has one of the two that mark a 32-bit system call. */
struct thread_info {
	unsigned long flags;
	__u32 status;
} RELOCATED;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	int on_cpu;
	int exit_state;
	int pid;
	int tgid;
	unsigned int flags;
	unsigned long nvcsw;
	unsigned long nivcsw;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct pid *thread_pid;
	struct task_struct *real_parent;
	__u64 parent_exec_id, self_exec_id;
#if defined(__TARGET_ARCH_x86)
	struct thread_struct thread;
#endif
} RELOCATED;

/* The registers of a system call, by the kernel's own names. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs___call {
	unsigned long di, si, dx, orig_ax;
} RELOCATED;
#else
struct pt_regs___call {
	__u64 regs[31];
	__u64 orig_x0;
	int syscallno;
} RELOCATED;
#endif

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
} RELOCATED;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} RELOCATED;

/* Constants of the loaded programs: the verifier removes code that these disable. */
const volatile struct kernel_settings settings SEC(".rodata.settings");
