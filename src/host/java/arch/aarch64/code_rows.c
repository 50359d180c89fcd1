/*
 * Follows the code that HotSpot made on aarch64.  A frame ends in the caller's x29 and the return
 * address; between calls x29 may be anything, unless -XX:+PreserveFramePointer is set.
 */
#include "host/java/code_rows.h"

#include "host/core/cleanup.h"
#include "host/java/arch/aarch64/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD           8
#define NOP            0xd503201fu
#define PUSH_FP_LR     0xa9bf7bfdu /* stp x29, x30, [sp, #-16]! */
#define STUB_ALIGNMENT 32u         /* where functions of CODE_STUBS begin */
#define FRAME_SIZE_MAX (1u << 20)

/* One piece of code on its way to rows. */
struct scan {
	const struct code *code;
	struct rows *rows;
	uint32_t pc;
	struct follow follow;
};

int java_add_rules(struct rows *rows, uint32_t pc, const struct follow *follow, uint32_t number)
{
	const struct rules rules = follow_rules(follow, number);

	return rules.kind == RULES_NONE ? rows_add_kind(rows, pc, UNWIND_BAD)
					: rows_add_rules(rows, pc, &rules);
}

static int add_from(const struct scan *scan, uint32_t first)
{
	int r = first ? rows_add_kind(scan->rows, scan->pc, UNWIND_BAD) : 0;

	for (uint32_t i = first; !r && i < scan->follow.count; i++)
		r = java_add_rules(scan->rows, scan->pc + i * INSTRUCTION_BYTES, &scan->follow, i);
	return r;
}

static bool is_new(const struct follow *follow, uint32_t number)
{
	return follow->visits[number] == VISIT_NEVER;
}

/* Follows from instructions in [begin, end) not reached yet, with this frame. */
static void follow_from_new(struct follow *follow, uint32_t begin, uint32_t end,
			    const struct frame_state *state)
{
	for (uint32_t i = begin; i < end; i++)
		if (is_new(follow, i)) {
			follow_arrive(follow, i, state);
			follow_run(follow);
		}
}

static struct frame_state frame_of_size(uint32_t size)
{
	struct frame_state state = frame_state_begin();

	state.sp_at = -(int32_t)size;
	state.fp_saved = -2 * WORD;
	state.lr_saved = -WORD;
	state.fp = HELD_OTHER;
	state.lr = HELD_OTHER;
	return state;
}

/* The prologue must make the frame in the method's description.  A large one is subtracted through
 * a register. */
static bool makes_frame(const struct frame_state *state, uint32_t size)
{
	return state->is_known && state->fp_saved == -2 * WORD && state->lr_saved == -WORD &&
	       (state->is_sp_lost || state->sp_at == -(int32_t)size);
}

/* Follows the prologue: true, and its last state is that of the whole frame. */
static bool follow_prologue(struct scan *scan, uint32_t complete)
{
	const struct frame_state begin = frame_state_begin();
	struct follow *follow = &scan->follow;
	struct frame_state *last = &follow->states[complete];
	uint32_t all = follow->count;

	follow->count = complete + 1;
	follow_from_new(follow, 0, complete, &begin);
	follow->count = all;
	if (is_new(follow, complete) || !makes_frame(last, scan->code->frame_size))
		return false;
	last->sp_at = -(int32_t)scan->code->frame_size;
	last->is_sp_lost = 0;
	return true;
}

/* A method that may not be entered any more begins with a jump.  Code that no flow reaches is
 * entered by the JVM itself, with the whole frame. */
static int scan_method(struct scan *scan)
{
	const struct code *code = scan->code;
	uint32_t complete = code->frame_complete / INSTRUCTION_BYTES;
	struct frame_state whole = frame_of_size(code->frame_size);
	struct follow *follow = &scan->follow;

	follow->is_one_frame = true;
	if (complete >= follow->count || code->frame_size < 2 * WORD ||
	    code->frame_size > FRAME_SIZE_MAX || !follow_prologue(scan, complete))
		return rows_add_kind(scan->rows, scan->pc, UNWIND_BAD);
	whole.fp = follow->states[complete].fp;
	whole.fp_at = follow->states[complete].fp_at;
	follow->visits[complete] = VISIT_NEVER;
	follow_from_new(follow, complete, follow->count, &whole);
	return add_from(scan, 0);
}

/* Consecutive entries: each begins after an instruction without continuation. */
static int scan_adapter(struct scan *scan)
{
	const struct frame_state begin = frame_state_begin();

	follow_from_new(&scan->follow, 0, scan->follow.count, &begin);
	return add_from(scan, 0);
}

static bool is_end_of_way(uint32_t word)
{
	int64_t offset;
	enum flow flow = instruction_flow(word, &offset);

	return flow == FLOW_END || flow == FLOW_JUMP;
}

/* Encodings that no instruction has. */
static bool is_data(uint32_t word)
{
	unsigned group = word >> 25 & 15;

	return group == 0 || group == 1 || group == 3;
}

/* At the alignment of functions, behind padding or the end of another one; data may be there, too,
 * which padding follows instead of an end. */
static bool is_aligned_function(const struct follow *follow, uint32_t number)
{
	uint32_t word = number ? follow_word(follow, number - 1) : 0;

	if (number % (STUB_ALIGNMENT / INSTRUCTION_BYTES) || (word != NOP && !is_end_of_way(word)))
		return false;
	for (; number < follow->count; number++) {
		word = follow_word(follow, number);
		if (is_data(word) || word == NOP)
			return false;
		if (is_end_of_way(word))
			return true;
	}
	return false;
}

/* Some functions are in the description by name; others are recognised by their prologue or
 * alignment. */
static int scan_stubs(struct scan *scan)
{
	const struct code *code = scan->code;
	struct follow *follow = &scan->follow;

	for (size_t i = 0; i < code->start_count; i++)
		follow_begin(follow, code->starts[i] / INSTRUCTION_BYTES);
	follow_run(follow);
	for (uint32_t i = 0; i < follow->count; i++) {
		if (!is_new(follow, i) || !(instruction_begins_function(follow_word(follow, i)) ||
					    is_aligned_function(follow, i)))
			continue;
		follow_begin(follow, i);
		follow_run(follow);
	}
	/* Such a jump leads into the middle of a row of instructions. */
	for (uint32_t i = 1; i < follow->count; i++)
		if (is_new(follow, i) && !is_new(follow, i - 1) &&
		    instruction_jumps_to_register(follow_word(follow, i - 1)) &&
		    follow_word(follow, i) != NOP) {
			follow_arrive(follow, i, &follow->states[i - 1]);
			follow_run(follow);
		}
	return add_from(scan, 0);
}

static int scan_routine(struct scan *scan)
{
	follow_begin(&scan->follow, 0);
	follow_run(&scan->follow);
	return add_from(scan, 0);
}

static bool loads_lr(uint32_t word)
{
	struct frame_state state = frame_state_begin();
	int64_t offset;

	instruction_apply(word, &state);
	return state.lr == HELD_OTHER && instruction_flow(word, &offset) == FLOW_ON;
}

/* Where the last frame is made that replaces others: its return address was read from a list. */
static uint32_t find_replacement(const struct follow *follow)
{
	for (uint32_t i = follow->count; i-- > 1;)
		if (follow_word(follow, i) == PUSH_FP_LR && loads_lr(follow_word(follow, i - 1)))
			return i;
	return follow->count;
}

/* Code with several entries that replaces frames: from its beginning on, until it has removed them,
 * and again when all others are made. */
static int scan_handler(struct scan *scan)
{
	struct follow *follow = &scan->follow;
	uint32_t again = find_replacement(follow), all = follow->count;

	follow->is_one_frame = true;
	follow->count = again;
	follow_begin(follow, 0);
	follow_run(follow);
	follow->count = all;
	if (again < all)
		follow_begin(follow, again);
	follow_run(follow);
	return add_from(scan, 0);
}

/* Those reached by a poll store their return address late. */
static int scan_safepoint(struct scan *scan)
{
	uint32_t first = 0;

	for (uint32_t i = 0; !first && i < scan->follow.count; i++)
		if ((follow_word(&scan->follow, i) & ~31u) == 0xf90007a0)
			first = i + 1;
	follow_begin(&scan->follow, 0);
	follow_run(&scan->follow);
	return add_from(scan, first);
}

/* The code that jumps here has saved all registers in a frame of its own, which x29 leads to. */
static int scan_forwarded(struct scan *scan)
{
	struct frame_state state = frame_of_size(2 * WORD);

	state.fp = HELD_FRAME;
	state.fp_at = -2 * WORD;
	state.is_sp_lost = true;
	follow_arrive(&scan->follow, 0, &state);
	follow_run(&scan->follow);
	return add_from(scan, 0);
}

static int scan_frameless(struct scan *scan)
{
	const struct frame_state begin = frame_state_begin();
	struct follow *follow = &scan->follow;

	if (!follow->count)
		return rows_add_kind(scan->rows, scan->pc, UNWIND_BAD);
	follow_arrive(follow, 0, &begin);
	return java_add_rules(scan->rows, scan->pc, follow, 0);
}

static int scan_interpreter(struct scan *scan)
{
	return interpreter_add_rows(scan->rows, scan->pc, &scan->follow,
				    /* is_entry */ scan->code->kind == CODE_ENTRY);
}

static int scan_unknown(struct scan *scan)
{
	return rows_add_kind(scan->rows, scan->pc, UNWIND_BAD);
}

static int (*const scans[])(struct scan *scan) = {
	[CODE_ROUTINES] = scan_routine,        [CODE_STUBS] = scan_stubs,
	[CODE_METHOD] = scan_method,           [CODE_ADAPTER] = scan_adapter,
	[CODE_FRAMELESS] = scan_frameless,     [CODE_HANDLER] = scan_handler,
	[CODE_EXCEPTION] = scan_routine,       [CODE_SAFEPOINT] = scan_safepoint,
	[CODE_FORWARDED] = scan_forwarded,     [CODE_ENTRY] = scan_interpreter,
	[CODE_INTERPRETER] = scan_interpreter, [CODE_UNKNOWN] = scan_unknown,
};

static int scan_code(struct scan *scan, const struct object_part *piece)
{
	int r = follow_open(&scan->follow, piece, /* begins */ NULL);

	if (r < 0)
		return r;
	scan->rows->machine = unwind_machine_of(EM_AARCH64);
	r = scans[scan->code->kind](scan);
	follow_close(&scan->follow);
	return r;
}

int java_add_rows_aarch64(struct rows *rows, uint32_t pc, const struct code *code)
{
	CLEANUP(free) unsigned char *bytes = malloc(code->size + 1);
	const struct object_part piece = { .bytes = bytes, .size = code->size };
	struct scan scan = { .code = code, .rows = rows, .pc = pc };
	const uint32_t nop = NOP;
	uint32_t word;

	if (!bytes)
		return -ENOMEM;
	if (code->size)
		memcpy(bytes, code->bytes, code->size);
	/* Code that saves all registers also restores x29 with them, to the value it has: drops
	 * these loads. */
	for (size_t at = 0; code->size - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		if ((word & 0xffc07fff) == 0xa94077fc) /* ldp x28, x29, [sp, #n] */
			memcpy(bytes + at, &nop, sizeof(nop));
	}
	return scan_code(&scan, &piece);
}
