/*
 * The effect of one instruction on sp, the frame pointer and, where calls do not push, the link
 * register: the same for both machines.  One implementation per machine folder.  Bytes are foreign:
 * at most `room` of them are read.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum step_flow {
	STEP_ON,     /* to the next instruction */
	STEP_BRANCH, /* there, or to the target */
	STEP_CALL,
	STEP_JUMP,   /* to the target */
	STEP_RETURN, /* to the caller, by its return address */
	STEP_STOP,   /* no continuation */
};

enum step_move {
	MOVE_NONE,
	MOVE_SP_FROM_FP, /* sp = fp + value */
	MOVE_FP_FROM_SP, /* fp = sp + value */
};

enum step_access {
	ACCESS_NONE,
	ACCESS_SAVE,
	ACCESS_RESTORE,
};

/* A word of the stack in which a register is saved, or from which it is restored. */
struct step_slot {
	enum step_access access;
	int32_t offset; /* from sp after the move, or from fp */
	bool is_from_fp;
};

#define STEP_TARGET_UNKNOWN INT64_MIN

/* In this order: the move, the accesses to slots, then sp += sp_change. */
struct frame_step {
	enum step_flow flow;
	int64_t target; /* of a jump, from the instruction; STEP_TARGET_UNKNOWN */
	unsigned size;
	enum step_move move;
	int32_t value;
	struct step_slot fp, ra;
	int32_t sp_change;
	/* Its value after the instruction is unknown. */
	bool is_sp_lost, is_fp_lost, is_ra_lost;
};

/* 0, or -EBADMSG for an invalid instruction, or one that exceeds the room. */
int frame_step_x86_64(struct frame_step *ret, const unsigned char *bytes, size_t room) MUST_CHECK;
int frame_step_aarch64(struct frame_step *ret, const unsigned char *bytes, size_t room) MUST_CHECK;
