/*
 * Walks up a stack.  Host only.  Stack memory is foreign: every address goes through the reader,
 * and the stack pointer must move up, so each walk ends.
 */
#include "host/unwind/walk.h"

#include "shared/arch/elf.h"
#include "shared/arch/signal_frame.h"
#include "shared/unwind/goroutine.h"
#include "shared/unwind/luajit.h"
#include "shared/unwind/unframed.h"

#include <sys/uio.h>

#define WORD        8
#define PAGE_BYTES  4096u
#define FRAME_MAX   ((uint64_t)1 << 20) /* the frame-pointer rule believes no larger frame */
#define SIGNALS_MAX 16                  /* frames of signals in one stack */
#define DOUBT_REACH ((uint64_t)8 << 10) /* so far up frames are looked for */

/* What a step says; not an end. */
#define GOES_ON STACK_ENDS

union code_ahead {
	unsigned char bytes[UNFRAMED_BYTES];
	uint32_t words[UNFRAMED_WORDS];
};

struct walk {
	const struct space *space;
	const struct memory_reader *stack;
	struct walk_registers at;
	const struct space_range *range; /* of at.pc; NULL: no code there */
	bool is_exact;                   /* at.pc is where it stands, not a return address */
	bool was_guided;                 /* the last step was by the frame-pointer rule */
	uint64_t below;                  /* sp of whom it has called */
	uint64_t mask_below;             /* at.mask of whom it has called */
	uint64_t go;      /* what is in the register of goroutines; 0: it is not known */
	unsigned signals; /* and other switches of stacks */
	bool needs_fp;    /* it ended because the frame pointer is not known */
	/* Behind a function that throws: where the walk was then.  0: nowhere. */
	uint64_t doubted_ra, doubted_sp, doubted_fp;
	uint64_t tried_sp; /* the last one with which the walk went on there; 0: none */
	unsigned doubted_count;
	bool is_guessed;
};

/* A chain that ended in 0: nobody says that a stack begins here. */
static int end_in_zero(const struct walk *walk)
{
	return walk->range && module_is_file(walk->range->module) ? STACK_ZERO : STACK_GENERATED;
}

static bool read_word(struct walk *walk, uint64_t address, uint64_t *ret)
{
	return address % WORD == 0 && !walk->stack->read(walk->stack->context, address, ret, WORD);
}

/* The caller becomes the frame that stands.  Its stack pointer may be the same where ra was not on
 * the stack. */
static int step_to(struct walk *walk, uint64_t cfa, uint64_t ra, uint64_t fp, bool may_stay)
{
	if (cfa < walk->at.sp || (cfa == walk->at.sp && !may_stay))
		return STACK_CIRCULAR;
	ra &= ARCH_ADDRESS_MASK;
	if (!ra && cfa == walk->space->start_stack)
		return STACK_COMPLETE;
	if (!ra) /* with a frame pointer it is a stack that is being changed */
		return fp ? STACK_NO_MAP : end_in_zero(walk);
	walk->at.pc = ra;
	walk->below = walk->at.sp;
	walk->at.sp = cfa;
	walk->at.is_sp_lost = false;
	walk->at.fp = fp;
	walk->mask_below = walk->at.mask;
	walk->at.mask = 0;
	walk->is_exact = false;
	walk->range = space_find(walk->space, ra - 1);
	return walk->range ? GOES_ON : STACK_NO_MAP;
}

static bool read_saved(struct walk *walk, unsigned saved, uint64_t cfa, int32_t offset,
		       uint64_t *value)
{
	if (saved == UNWIND_SAVED_NOT)
		return true;
	if (saved == UNWIND_SAVED_IN) {
		*value = walk->at.all[offset];
		return walk->at.mask >> offset & 1;
	}
	if (saved == UNWIND_SAVED_AT_SP)
		cfa = walk->at.sp;
	else if (saved == UNWIND_SAVED_AT_BASE)
		cfa = walk->at.fp;
	return read_word(walk, cfa + (uint64_t)(int64_t)offset, value);
}

/* A caller's lr was overwritten by its call. */
static bool is_lr_lost(const struct walk *walk)
{
	return !walk->is_exact || walk->at.is_lr_unknown;
}

static int lacks_fp(struct walk *walk)
{
	walk->needs_fp = true;
	return STACK_NO_RULE;
}

/* Whether a call can return there: where a function begins it has called nobody yet. */
static bool is_behind_call(const struct walk *walk, uint64_t ra)
{
	const struct space_range *range = space_find(walk->space, ra - 1);
	const struct unwind_table *table = range ? range->module->table : NULL;
	const struct unwind_row *row =
		table ? unwind_table_find(table, ra - 1 - range->bias) : NULL;

	return row && row->kind != UNWIND_NONE &&
	       !((row->kind & UNWIND_KIND_MASK) == UNWIND_SP && row->cfa <= 1);
}

/* Assembly that keeps its caller's stack pointer just below its own, where copies of a stack do not
 * reach, has saved it in its frame, too: the first word that points to a return address. */
static bool find_kept_sp(struct walk *walk, uint64_t *ret)
{
	uint64_t sp = walk->at.sp, word, ra;

	for (uint64_t at = sp; at - sp < DOUBT_REACH && read_word(walk, at, &word); at += WORD) {
		if (word <= at || word - at >= DOUBT_REACH || !read_word(walk, word, &ra) ||
		    !is_behind_call(walk, ra))
			continue;
		walk->is_guessed = true;
		*ret = word;
		return true;
	}
	return false;
}

static bool read_kept_cfa(struct walk *walk, const struct unwind_special *rule, uint64_t *cfa)
{
	bool is_below = rule->base == UNWIND_BASE_SP && rule->offset < 0 && rule->addition == WORD;

	return read_word(walk, *cfa, cfa) || (is_below && find_kept_sp(walk, cfa));
}

/* Go saves it one word below the stack pointer, where copies of a stack do not reach: its own code
 * does without. */
static bool read_fp(struct walk *walk, uint64_t address, uint64_t *ret)
{
	walk->at.is_fp_unknown = !read_word(walk, address, ret);
	return !walk->at.is_fp_unknown || address < walk->at.sp;
}

/* A place below sp where whom it has called saves something: not yet, or not any more. */
static bool is_unsaved(const struct walk *walk, const struct unwind_special *rule, uint64_t address)
{
	return rule->is_dereferenced && rule->offset < 0 && rule->base == UNWIND_BASE_SP &&
	       !walk->is_exact && address < walk->below;
}

static int step_special(struct walk *walk, const struct unwind_special *rule)
{
	uint64_t known = walk->at.mask | (rule->is_kept ? walk->mask_below : 0);
	uint64_t cfa, ra = walk->at.lr, fp = walk->at.fp;

	if (walk->at.is_fp_unknown &&
	    (rule->base == UNWIND_BASE_FP || rule->fp_saved == UNWIND_SAVED_AT_BASE))
		return lacks_fp(walk);
	if (rule->ra_saved == UNWIND_SAVED_NOT && is_lr_lost(walk))
		return STACK_NO_RULE;
	if (rule->base == UNWIND_BASE_SP)
		cfa = walk->at.sp;
	else if (rule->base == UNWIND_BASE_FP)
		cfa = walk->at.fp;
	else if (known >> (rule->base - UNWIND_BASE_REGISTER) & 1)
		cfa = walk->at.all[rule->base - UNWIND_BASE_REGISTER];
	else
		return STACK_NO_RULE;
	cfa += (uint64_t)(int64_t)rule->offset;
	if (is_unsaved(walk, rule, cfa))
		return STACK_NO_RULE;
	if (rule->is_dereferenced && !read_kept_cfa(walk, rule, &cfa))
		return STACK_UNREADABLE;
	cfa += (uint64_t)(int64_t)rule->addition;
	if (rule->is_floored)
		cfa = MAX(cfa, rule->fp_saved == UNWIND_SAVED_AT_BASE ? walk->at.fp + 2 * WORD
								      : walk->at.sp);
	if (!read_saved(walk, rule->ra_saved, cfa, rule->ra_offset, &ra))
		return STACK_UNREADABLE;
	if (rule->fp_saved == UNWIND_SAVED_AT_SP
		    ? !read_fp(walk, walk->at.sp + (uint64_t)(int64_t)rule->fp_offset, &fp)
		    : !read_saved(walk, rule->fp_saved, cfa, rule->fp_offset, &fp))
		return STACK_UNREADABLE;
	walk->at.is_fp_unknown &= !rule->fp_saved || rule->fp_saved == UNWIND_SAVED_AT_SP;
	return step_to(walk, cfa, ra, fp,
		       walk->is_exact &&
			       (!ARCH_RETURN_ON_STACK || rule->ra_saved == UNWIND_SAVED_IN));
}

/* Where a row says that ra is, on machines whose calls do not push it. */
static bool read_ra(struct walk *walk, const struct unwind_row *row, uint64_t cfa, uint64_t *ret)
{
	if (ARCH_RETURN_ON_STACK)
		return read_word(walk, cfa - WORD, ret);
	if (row->kind & UNWIND_RA_IN_REGISTER) {
		*ret = walk->at.lr;
		return walk->is_exact;
	}
	return read_word(
		walk, cfa + (uint64_t)(row->fp * WORD) + (row->kind & UNWIND_RA_ALONE ? 0 : WORD),
		ret);
}

static int step_row(struct walk *walk, const struct unwind_row *row, uint64_t cfa)
{
	uint64_t ra, fp = walk->at.fp;
	bool has_fp = row->fp != UNWIND_FP_SAME && !(row->kind & UNWIND_RA_ALONE);

	if (row->kind & UNWIND_RA_IN_REGISTER && walk->at.is_lr_unknown)
		return STACK_NO_RULE;
	if (!read_ra(walk, row, cfa, &ra))
		return STACK_UNREADABLE;
	if (has_fp && !read_fp(walk, cfa + (uint64_t)(row->fp * WORD), &fp))
		return STACK_UNREADABLE;
	return step_to(walk, cfa, ra, fp, walk->is_exact && !ARCH_RETURN_ON_STACK);
}

static int step_signal(struct walk *walk)
{
	struct walk_registers *at = &walk->at;
	uint64_t sp = at->sp;

	if (++walk->signals > SIGNALS_MAX)
		return STACK_CIRCULAR;
	at->mask = walk->mask_below = 0;
	at->is_fp_unknown = at->is_lr_unknown = false;
	if (!read_word(walk, sp + SIGNAL_FRAME_PC, &at->pc) ||
	    !read_word(walk, sp + SIGNAL_FRAME_GO, &walk->go) ||
	    !read_word(walk, sp + SIGNAL_FRAME_SP, &at->sp) ||
	    !read_word(walk, sp + SIGNAL_FRAME_FP, &at->fp))
		return STACK_UNREADABLE;
#ifdef SIGNAL_FRAME_LR
	if (!read_word(walk, sp + SIGNAL_FRAME_LR, &at->lr))
		return STACK_UNREADABLE;
#endif
	walk->is_exact = true;
	walk->range = space_find(walk->space, at->pc);
	return walk->range ? GOES_ON : STACK_NO_MAP;
}

/* The goroutine that this thread's own stack works for; 0: none. */
static bool find_goroutine(struct walk *walk, unsigned goroutine_at, uint64_t *ret)
{
	uint64_t m, own;

	return walk->go && goroutine_at && read_word(walk, walk->go + GO_G_M, &m) &&
	       read_word(walk, m + GO_M_G0, &own) && read_word(walk, m + goroutine_at, ret) &&
	       (own == walk->go || *ret == walk->go);
}

static bool read_gobuf(struct walk *walk, uint64_t g, bool is_long)
{
	uint64_t words[GO_GOBUF_WORDS];

	for (unsigned i = 0; i < GO_GOBUF_WORDS; i++)
		if (!read_word(walk, g + GO_G_GOBUF + i * WORD, &words[i]))
			return false;
	walk->at.sp = words[GO_GOBUF_SP];
	walk->at.pc = words[GO_GOBUF_PC];
	walk->at.lr = words[GO_GOBUF_LR_OF_SIX + is_long];
	walk->at.fp = words[GO_GOBUF_BP_OF_SIX + is_long];
	return walk->at.sp && walk->at.pc;
}

/* Without a goroutine it is the scheduler, or was it a moment later: this is read behind a copy. */
static int step_gobuf(struct walk *walk, const struct unwind_row *row)
{
	unsigned goroutine_at = row->cfa * (unsigned)WORD;
	uint64_t g;

	if (++walk->signals > SIGNALS_MAX)
		return STACK_CIRCULAR;
	if (!find_goroutine(walk, goroutine_at, &g) || !g)
		return STACK_SWITCHED;
	if (!read_gobuf(walk, g, goroutine_at == GO_M_GOROUTINE_OF_SEVEN))
		return STACK_SWITCHED;
	walk->at.mask = walk->mask_below = 0;
	walk->at.is_fp_unknown = walk->at.is_lr_unknown = walk->at.is_sp_lost = false;
	walk->is_exact = true;
	walk->range = space_find(walk->space, walk->at.pc);
	return walk->range ? GOES_ON : STACK_NO_MAP;
}

/* From the frame that called C on. */
static int step_cgo(struct walk *walk, const struct unwind_row *row)
{
	uint64_t kept = walk->at.sp + (row->cfa & 0xffu) * WORD, g, depth, end = 0;
	unsigned words = row->cfa >> 8;
	const struct unwind_row frame = {
		.kind = UNWIND_SP,
		.cfa = (__u16)(words + ARCH_RETURN_ON_STACK),
		.fp = (__s8)(!words                 ? UNWIND_FP_SAME
			     : ARCH_RETURN_ON_STACK ? -2
						    : -(int)words - 1),
	};

	if (++walk->signals > SIGNALS_MAX)
		return STACK_CIRCULAR;
	if (!read_word(walk, kept, &g) ||
	    !read_word(walk, kept + (uint64_t)(GO_DEPTH_FROM_G * WORD), &depth) ||
	    (g && !read_word(walk, g + GO_G_STACK_END, &end)))
		return STACK_SWITCHED;
	walk->at.sp = g ? end - depth : depth;
	return step_row(walk, &frame, walk->at.sp + frame.cfa * (uint64_t)WORD);
}

/* The caller has not called: it is where it stands, and its lr was pushed. */
static int step_pushed(struct walk *walk, const struct unwind_row *row)
{
	uint64_t cfa = walk->at.sp + row->cfa * (uint64_t)WORD, lr = 0;
	int r;

	if (++walk->signals > SIGNALS_MAX)
		return STACK_CIRCULAR;
	if (!ARCH_RETURN_ON_STACK && !read_word(walk, cfa - 2 * WORD, &lr))
		return STACK_UNREADABLE;
	r = step_row(walk, row, cfa);
	if (r != GOES_ON)
		return r;
	walk->at.lr = lr;
	walk->at.is_lr_unknown = false;
	walk->is_exact = true;
	walk->range = space_find(walk->space, walk->at.pc);
	return walk->range ? GOES_ON : STACK_NO_MAP;
}

static int step_by_other_fp(struct walk *walk, const struct unwind_row *row)
{
	if (walk->at.is_fp_unknown)
		return lacks_fp(walk);
	if (++walk->signals > SIGNALS_MAX)
		return STACK_CIRCULAR;
	walk->at.sp = walk->at.fp;
	return step_row(walk, row, walk->at.fp + row->cfa * (uint64_t)WORD);
}

/* LuaJIT's frame, at sp or above; 0: it was not found. */
static uint64_t find_luajit(struct walk *walk)
{
	uint64_t state, frame;

	for (uint64_t at = walk->at.sp, i = 0; i < LUAJIT_REACH; i++, at += WORD) {
		if (!read_word(walk, at + LUAJIT_FRAME_STATE, &state))
			return 0;
		if (luajit_may_be_state(state) &&
		    read_word(walk, state + LUAJIT_STATE_FRAME, &frame) &&
		    (frame & LUAJIT_FRAME_MASK) == at)
			return at;
	}
	return 0;
}

/* Whether sp is that of a frame, although its state may run another one by now. */
static bool is_luajit_frame(struct walk *walk)
{
	uint64_t state, head;

	return read_word(walk, walk->at.sp + LUAJIT_FRAME_STATE, &state) &&
	       luajit_may_be_state(state) && read_word(walk, state + LUAJIT_STATE_HEAD, &head) &&
	       luajit_is_state(head);
}

static int step_luajit(struct walk *walk, const struct unwind_row *row)
{
	const struct unwind_row frame = { .kind = UNWIND_SP,
					  .cfa = row->cfa & LUAJIT_SIZE_MASK,
					  .fp = row->fp };
	uint64_t sp = walk->at.sp;

	if (!(row->cfa & LUAJIT_ASSEMBLY) || walk->is_exact || !is_luajit_frame(walk))
		sp = find_luajit(walk);
	return sp ? step_row(walk, &frame, sp + frame.cfa * (uint64_t)WORD) : STACK_GENERATED;
}

/* What can be read of the code before the thread stands; the rest is 0. */
static void read_code_ahead(const struct walk *walk, union code_ahead *ret)
{
	size_t in_page = PAGE_BYTES - walk->at.pc % PAGE_BYTES;
	struct iovec local = { ret, MIN(sizeof(*ret), in_page) };
	struct iovec remote = { (void *)(uintptr_t)walk->at.pc, local.iov_len };

	*ret = (union code_ahead){ 0 };
	(void)!process_vm_readv(walk->space->pid, &local, 1, &remote, 1, 0);
}

/* The frame is not there, or not any more: false where it is. */
static bool find_unframed(struct walk *walk, struct unframed *ret)
{
	union code_ahead code;
	uint64_t fp;

	if (!walk->is_exact || is_lr_lost(walk))
		return false;
	read_code_ahead(walk, &code);
	*ret = ARCH_RETURN_ON_STACK ? unframed_x86_64(code.bytes) : unframed_aarch64(code.words);
	return ret->kind == UNFRAMED_BARE ||
	       (ret->kind == UNFRAMED_PUSHED &&
		read_word(walk, walk->at.sp + (uint64_t)ret->distance, &fp) &&
		(ARCH_RETURN_ON_STACK || fp == walk->at.fp));
}

static int step_unframed(struct walk *walk, const struct unframed *unframed)
{
	uint64_t at = walk->at.sp + (uint64_t)unframed->distance, ra = walk->at.lr,
		 fp = walk->at.fp;
	bool is_pushed = unframed->kind == UNFRAMED_PUSHED;

	if ((is_pushed && (!read_word(walk, at, &fp) || !read_word(walk, at + WORD, &ra))) ||
	    (!is_pushed && ARCH_RETURN_ON_STACK && !read_word(walk, at, &ra)))
		return STACK_UNREADABLE;
	if (is_pushed)
		at += 2 * WORD;
	else if (ARCH_RETURN_ON_STACK)
		at += WORD;
	return step_to(walk, at, ra, fp, /* may_stay */ !ARCH_RETURN_ON_STACK);
}

/* A step that no rule led: where calls do not push, the caller's frame may go on above. */
static int end_guided(struct walk *walk, int r)
{
	walk->was_guided = true;
	walk->at.is_sp_lost = !ARCH_RETURN_ON_STACK;
	return r == STACK_NO_MAP ? STACK_NO_TABLE : r;
}

/* Code without rules: it may keep frame pointers, as most JIT code does.  A chain that ends in 0,
 * or reaches a function of a file with 0, goes no further, and is not complete: that 0 may be a
 * register that the code uses for something else.  Where calls do not push, the frame may go on
 * above the two words that fp points to. */
static int step_frame_pointer(struct walk *walk)
{
	uint64_t fp = walk->at.fp, ra, next;
	bool is_in_file = walk->range && module_is_file(walk->range->module);
	struct unframed unframed;

	if (walk->at.is_fp_unknown)
		return lacks_fp(walk);
	if (find_unframed(walk, &unframed))
		return end_guided(walk, step_unframed(walk, &unframed));
	if (!fp && !walk->is_exact && (walk->was_guided || is_in_file))
		return end_in_zero(walk);
	if (fp < walk->at.sp || fp - walk->at.sp > FRAME_MAX || fp % WORD)
		return STACK_NO_TABLE;
	if (!read_word(walk, fp, &next) || !read_word(walk, fp + WORD, &ra))
		return STACK_UNREADABLE;
	return end_guided(walk, step_to(walk, fp + 2 * WORD, ra, next, /* may_stay */ false));
}

/* The rule by which a frame is found whose sp is not known; false: there is none. */
static bool find_rule_without_sp(const struct unwind_row *row, struct unwind_row *ret)
{
	unsigned kind = row->kind & UNWIND_KIND_MASK;

	*ret = *row;
	if (kind == UNWIND_SP && row->kind & UNWIND_FP_HELD) {
		ret->kind = UNWIND_FP;
		ret->cfa = (__u16)-row->fp;
		return true;
	}
	return kind != UNWIND_SP && kind != UNWIND_SPECIAL && kind != UNWIND_SIGNAL &&
	       kind != UNWIND_GO_CGO && kind != UNWIND_GO_PUSHED;
}

static int step_by(struct walk *walk, const struct unwind_table *table,
		   const struct unwind_row *row)
{
	const struct walk_registers *at = &walk->at;
	struct unwind_row other;

	if (at->is_sp_lost) {
		if (!find_rule_without_sp(row, &other))
			return STACK_NO_RULE;
		row = &other;
	}
	switch (row->kind & UNWIND_KIND_MASK) {
	case UNWIND_SP:
		return step_row(walk, row, at->sp + row->cfa * (uint64_t)WORD);
	case UNWIND_FP:
		if (at->is_fp_unknown)
			return lacks_fp(walk);
		return step_row(walk, row, at->fp + row->cfa * (uint64_t)WORD);
	case UNWIND_PLT:
		return step_row(walk, row, at->sp + WORD + ((at->pc & 15) >= row->cfa ? WORD : 0));
	case UNWIND_SIGNAL:
		return step_signal(walk);
	case UNWIND_END:
		return STACK_COMPLETE;
	case UNWIND_SPECIAL:
		return step_special(walk, &table->specials[row->cfa]);
	case UNWIND_NEWER:
		return STACK_NO_TABLE;
	case UNWIND_GO_GOBUF:
		return step_gobuf(walk, row);
	case UNWIND_GO_CGO:
		return step_cgo(walk, row);
	case UNWIND_GO_PUSHED:
		return step_pushed(walk, row);
	case UNWIND_GO_FP:
		return step_by_other_fp(walk, row);
	case UNWIND_LUAJIT:
		return step_luajit(walk, row);
	default:
		return row->cfa == UNWIND_BAD_JIT ? STACK_GENERATED : STACK_NO_RULE;
	}
}

/* What the call returns to; 0: it cannot be told.  Some C libraries have no rules for where signal
 * handlers and threads return to. */
static uint64_t read_code(const struct walk *walk)
{
	uint64_t code = 0;
	struct iovec local = { &code, sizeof(code) };
	struct iovec remote = { (void *)(uintptr_t)walk->at.pc, sizeof(code) };

	if (walk->is_exact || !module_is_file(walk->range->module) ||
	    process_vm_readv(walk->space->pid, &local, 1, &remote, 1, 0) != sizeof(code))
		return 0;
	return code;
}

static int step_without_rule(struct walk *walk, __u64 *frame)
{
	uint64_t code = read_code(walk);

	if (code == THREAD_END)
		return STACK_COMPLETE;
	if (walk->at.is_sp_lost || code != SIGNAL_TRAMPOLINE)
		return step_frame_pointer(walk);
	*frame += 1;
	return step_signal(walk);
}

/* At its end it goes to the handler, which nobody has called; before, ra may be of another frame.
 */
static void frame_doubt(struct walk *walk, const struct unwind_row *row, bool was_exact,
			unsigned count)
{
	if (ARCH_RETURN_ON_STACK && was_exact && (row->kind & UNWIND_KIND_MASK) != UNWIND_FP) {
		walk->is_exact = true;
		walk->range = space_find(walk->space, walk->at.pc);
		return;
	}
	if (walk->doubted_ra || walk->is_guessed)
		return;
	walk->doubted_ra = walk->at.pc;
	walk->doubted_sp = walk->at.sp;
	walk->doubted_fp = walk->at.fp;
	walk->doubted_count = count;
}

/* A word above that holds the doubted return address; 0: there is none. */
static uint64_t find_call(struct walk *walk)
{
	uint64_t word;

	for (uint64_t at = walk->doubted_sp; at - walk->doubted_sp < DOUBT_REACH; at += WORD) {
		if (!read_word(walk, at, &word))
			return 0;
		if ((word & ARCH_ADDRESS_MASK) == walk->doubted_ra)
			return at;
	}
	return 0;
}

static bool go_on_at(struct walk *walk, uint64_t sp)
{
	walk->is_guessed = true;
	walk->is_exact = walk->was_guided = false;
	walk->at.pc = walk->doubted_ra;
	walk->at.sp = sp;
	walk->at.is_sp_lost = false;
	walk->below = UINT64_MAX;
	walk->mask_below = 0;
	walk->at.fp = walk->doubted_fp;
	walk->range = space_find(walk->space, walk->at.pc - 1);
	return walk->range;
}

/* The call that returns there lies above.  Of several the innermost is found: its callers are those
 * of the others, too.  Where calls do not push, its frame ends somewhere behind that word: all ends
 * that can be are tried, one after the other. */
static bool find_doubted(struct walk *walk)
{
	uint64_t sp = walk->tried_sp;
	bool is_found;

	if (sp && sp - walk->doubted_sp < DOUBT_REACH) {
		walk->tried_sp += 2 * WORD;
		return go_on_at(walk, walk->tried_sp);
	}
	sp = sp ? 0 : find_call(walk);
	if (sp && !ARCH_RETURN_ON_STACK) {
		walk->tried_sp = ALIGN_UP(sp + WORD, 2 * WORD);
		return go_on_at(walk, walk->tried_sp);
	}
	is_found = sp && go_on_at(walk, sp + WORD);
	walk->doubted_ra = 0;
	return is_found;
}

static int walk_step(struct walk *walk, __u64 *frame, unsigned count)
{
	uint64_t place = walk->is_exact ? walk->at.pc : walk->at.pc - 1, bias;
	const struct unwind_table *table;
	bool was_exact = walk->is_exact;
	const struct unwind_row *row;
	int r;

	if (!walk->range)
		return STACK_NO_MAP;
	table = space_table(walk->space, walk->range, place, &bias);
	row = table ? unwind_table_find(table, place - bias) : NULL;
	if (!row || row->kind == UNWIND_NONE)
		return step_without_rule(walk, frame);
	walk->was_guided = false;
	if (row->kind == UNWIND_SIGNAL && !was_exact)
		*frame += 1; /* nobody has called from there: it is looked up where it is */
	r = step_by(walk, table, row);
	if (r == GOES_ON && row->kind & UNWIND_THROWS)
		frame_doubt(walk, row, was_exact, count);
	return r;
}

struct walk_result stack_walk(const struct space *space, const struct walk_registers *registers,
			      const struct memory_reader *stack, __u64 *frames, unsigned capacity)
{
	return stack_walk_on(space, registers, /* is_exact */ true, stack, frames, 1, capacity);
}

struct walk_result stack_walk_on(const struct space *space, const struct walk_registers *registers,
				 bool is_exact, const struct memory_reader *stack, __u64 *frames,
				 unsigned count, unsigned capacity)
{
	struct walk walk = {
		.space = space,
		.stack = stack,
		.at = *registers,
		.is_exact = is_exact,
		.below = UINT64_MAX,
		.range = space_find(space, registers->pc - !is_exact),
		.go = registers->mask >> GO_REGISTER_G & 1 ? registers->all[GO_REGISTER_G] : 0,
	};
	struct walk_result result = { .end = STACK_CUT, .count = count - 1 };

	while (result.count < capacity) {
		int r;

		/* Callers are looked up at the byte before; one that a signal interrupted has no
		 * call there. */
		frames[result.count] = walk.at.pc + (walk.is_exact && result.count > 0);
		result.count++;
		r = walk_step(&walk, &frames[result.count - 1], result.count);
		if (r == GOES_ON)
			continue;
		result.end = (enum stack_end)r;
		if (r == STACK_COMPLETE || !walk.doubted_ra)
			break;
		result.count = walk.doubted_count;
		if (!find_doubted(&walk))
			break;
		result.end = STACK_CUT;
	}
	result.needs_fp = walk.needs_fp;
	result.is_guessed = walk.is_guessed;
	return result;
}
