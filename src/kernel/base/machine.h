/*
 * The machine's registers, as the kernel passes these to BPF programs.
 */
#pragma once

#include "kernel/base/types.h"

#if defined(__TARGET_ARCH_x86)

/* As in the kernel's public asm/ptrace.h. */
struct pt_regs {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
		flags, sp, ss;
};

#define REGISTERS_PC(regs)          ((regs)->ip)
#define REGISTERS_SP(regs)          ((regs)->sp)
#define REGISTERS_FP(regs)          ((regs)->bp)
#define REGISTERS_LR(regs)          0
#define REGISTERS_LUAJIT_BASE(regs) ((regs)->dx)
#define REGISTERS_LUAJIT_PC(regs)   ((regs)->bx)
#define REGISTERS_USER(regs)        (((regs)->cs & 3) == 3)

/* Index in pt_regs of each DWARF register. */
#define DWARF_REGISTERS 16
#define DWARF_SLOTS                                                   \
	{                                                             \
		10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, \
	}

#define CODE_ADDRESS(address) (address)
#define RETURN_ON_STACK       1

#elif defined(__TARGET_ARCH_arm64)

struct pt_regs {
	__u64 regs[31], sp, pc, pstate;
};

#define REGISTERS_PC(registers)          ((registers)->pc)
#define REGISTERS_SP(registers)          ((registers)->sp)
#define REGISTERS_FP(registers)          ((registers)->regs[29])
#define REGISTERS_LR(registers)          ((registers)->regs[30])
#define REGISTERS_LUAJIT_BASE(registers) ((registers)->regs[19])
#define REGISTERS_LUAJIT_PC(registers)   ((registers)->regs[21])
#define REGISTERS_USER(registers)        (((registers)->pstate & 15) == 0)

/* Index in pt_regs of each DWARF register: the same order. */
#define DWARF_REGISTERS                  32
#define DWARF_SLOTS                                                                               \
	{                                                                                         \
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, \
			23, 24, 25, 26, 27, 28, 29, 30, 31,                                       \
	}

/* Return addresses may have a signature in bits that user addresses do not use. */
#define CODE_ADDRESS(address) ((address)&settings.address_mask)
#define RETURN_ON_STACK       0

#else
#error "limpet knows x86-64 and aarch64"
#endif

struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};
