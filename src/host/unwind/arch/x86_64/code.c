/*
 * Rules of a piece of code without an entry: tries functions at symbols, at targets of calls, and
 * behind other functions.
 */
#include "host/unwind/arch/code.h"

#include <errno.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/unwind/arch/x86_64/begins.h"
#include "host/unwind/arch/x86_64/direct_calls.h"
#include "host/unwind/arch/x86_64/keeps.h"
#include "host/unwind/arch/x86_64/saving_call.h"
#include "host/unwind/arch/x86_64/trial.h"

#define FUNCTION_ALIGN 16u
#define PUSH_NUMBER    0x6a

/* mov $15, %rax; syscall: where a signal handler returns to. */
static const unsigned char trampoline[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };

static void trial_close_at_scope_end(struct trial *trial)
{
	trial_close(trial);
}

static int try_named(struct trial *trial)
{
	int r = 0;

	for (uint32_t at = 0; !r && at < trial->size; at++)
		if (named_has(trial->begins, trial->piece->address + at))
			r = trial_run(trial, at, /* is_named */ true);
	return r;
}

/* Each accepted function may call others, before it and behind it. */
static int try_called(struct trial *trial)
{
	bool is_any = true;
	int r = 0;

	while (is_any && !r) {
		is_any = false;
		for (uint32_t at = 0; !r && at < trial->size; at++) {
			if ((trial->marks[at] & (MARK_CALLED | MARK_TRIED)) != MARK_CALLED ||
			    trial->numbers[at])
				continue;
			is_any = true;
			r = trial_run(trial, at, /* is_named */ true);
		}
	}
	return r;
}

/* After an instruction without continuation another function may begin, at an address with the
 * alignment of compilers and assemblers. */
static int try_others(struct trial *trial)
{
	bool may_begin = true;
	int r = 0;

	for (uint32_t at = 0; !r && at < trial->size;) {
		unsigned padding = may_begin ? trial_padding(trial, at) : 0;
		struct instruction it;

		if (padding) {
			at += padding;
			continue;
		}
		if (may_begin && (trial->piece->address + at) % FUNCTION_ALIGN == 0)
			r = trial_run(trial, at, /* is_named */ false);
		if (trial_read(trial, at, &it)) {
			may_begin = trial_is_over(trial, at, &it);
			at += it.size;
		} else {
			may_begin = true;
			at = (uint32_t)ALIGN_UP(at + 1, FUNCTION_ALIGN);
		}
	}
	return r;
}

static bool is_trampoline(const struct trial *trial, uint32_t at)
{
	return trial->size - at >= sizeof(trampoline) &&
	       !memcmp(trial->piece->bytes + at, trampoline, sizeof(trampoline));
}

/* A handler returns to the first instruction of a trampoline, and callers are looked up one byte
 * before.  In the call that the trampoline makes the pc stands behind its last byte. */
static int tell_trampoline(const struct trial *trial, uint32_t at,
			   const struct rules_listener *listener)
{
	static const struct rules signal = { .kind = RULES_SIGNAL }, none = { .kind = RULES_NONE };
	uint64_t address = trial->piece->address + at;
	int r = listener->rules(listener->context, address - (at > 0), &signal);

	return r ? r : listener->rules(listener->context, address + sizeof(trampoline) + 1, &none);
}

/* Callers are looked up at the last byte of their call: only there a rule says that the callee kept
 * the CFA's register. */
static int tell_kept(const struct trial *trial, uint32_t at, struct rules rules,
		     const struct rules_listener *listener)
{
	unsigned number = code_scratch_register(rules.cfa.base);
	uint64_t steps_left = trial->size; /* as many as sufficed before */
	struct instruction it;

	if (rules.kind != RULES_FRAME || rules.cfa.kind != RULE_AT || number == REGISTER_NONE ||
	    !trial_read(trial, at, &it) || it.kind != INSTRUCTION_CALL ||
	    !(kept_by_call(trial, at, &it, &steps_left) >> number & 1))
		return 0;
	rules.is_kept = true;
	return listener->rules(listener->context, trial->piece->address + at + 1, &rules);
}

static int tell_rules(const struct trial *trial, const struct rules_listener *listener)
{
	int r = 0;

	for (uint32_t at = 0; !r && at < trial->size;) {
		struct code_expressions room;
		struct rules rules = trial_rules(trial, at, &room);
		struct instruction it;

		if (is_trampoline(trial, at)) {
			r = tell_trampoline(trial, at, listener);
			at += sizeof(trampoline) + 1;
			continue;
		}
		r = listener->rules(listener->context, trial->piece->address + at, &rules);
		if (!r)
			r = tell_kept(trial, at, rules, listener);
		at += rules.kind != RULES_NONE ? trial_read(trial, at, &it) : 1;
	}
	return r;
}

static bool is_all_padding(const struct trial *trial)
{
	uint32_t at = 0;
	unsigned size;

	while ((size = trial_padding(trial, at)))
		at += size;
	return at >= trial->size;
}

static int read_code(const struct object_part *piece, const struct code_begins *begins,
		     const struct rules_listener *listener)
{
	const struct trial bare = { .piece = piece, .size = (uint32_t)piece->size };
	CLEANUP(trial_close) struct trial trial = { 0 };
	int r;

	if (piece->size > CODE_PIECE_MAX || is_all_padding(&bare))
		return 0;
	r = trial_open(&trial, piece, begins);
	if (!r)
		r = try_named(&trial);
	if (!r)
		r = try_called(&trial);
	if (!r)
		r = try_others(&trial);
	if (!r)
		r = try_called(&trial);
	return r ? r : tell_rules(&trial, listener);
}

/* jcc with a distance of one byte or of four: as in glibc's __memcpy_chk, which continues through
 * nops in memcpy.  Other bytes may look the same; then nothing continues behind them. */
static bool ends_with_branch(const struct object_part *code)
{
	const unsigned char *end = code->bytes + code->size;

	return (code->size >= 2 && (end[-2] & 0xf0) == 0x70) ||
	       (code->size >= 6 && end[-6] == 0x0f && (end[-5] & 0xf0) == 0x80);
}

static uint32_t find_number_push(const struct object_part *code, uint32_t from)
{
	const unsigned char *found =
		from < code->size ? memchr(code->bytes + from, PUSH_NUMBER, code->size - from)
				  : NULL;

	return (uint32_t)(found ? (size_t)(found - code->bytes) : code->size);
}

const struct code_reader code_of_x86_64 = {
	.step = 1,
	.read_step = frame_step_x86_64,
	.find_begins = named_find,
	.read = read_code,
	.may_fall_on = ends_with_branch,
	.find_number_push = find_number_push,
	.find_saving_call = saving_call_find,
	.each_call = direct_calls_each,
};
