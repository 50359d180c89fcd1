/*
 * Walks a stack by unwind tables: from registers and a reader of stack memory to return addresses.
 */
#pragma once

#include "shared/elf/image.h"
#include "shared/wire/sample.h"

#include "host/unwind/space.h"

#define WALK_REGISTERS 33 /* by their DWARF numbers */

struct walk_registers {
	uint64_t pc, sp, fp;
	bool is_fp_unknown; /* until a row restores it */
	uint64_t lr;        /* aarch64 */
	bool is_lr_unknown;
	bool is_sp_lost; /* sp is the true one, or lower (aarch64) */
	uint64_t mask;   /* bits of valid registers in `all` */
	uint64_t all[WALK_REGISTERS];
};

struct walk_result {
	unsigned count;
	enum stack_end end;
	bool needs_fp;   /* it ended because the frame pointer is not known */
	bool is_guessed; /* a frame was searched for: UNWIND_THROWS, or an unreadable word */
};

/* Innermost first; frames[0] is the pc itself, the others are return addresses, or a pc that a
 * signal interrupted.  Except the first, only addresses in code are returned. */
struct walk_result stack_walk(const struct space *space, const struct walk_registers *registers,
			      const struct memory_reader *stack, __u64 *frames, unsigned capacity);

/* Continues a walk that has `count` frames, at least one.  The last of them is registers->pc: a
 * return address, or the pc of a stopped or interrupted frame (is_exact). */
struct walk_result stack_walk_on(const struct space *space, const struct walk_registers *registers,
				 bool is_exact, const struct memory_reader *stack, __u64 *frames,
				 unsigned count, unsigned capacity);
