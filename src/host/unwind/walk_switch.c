/*
 * Steps of a walk that switch stacks: from a stack of the Go runtime to its goroutine's, from code
 * that LuaJIT made to its caller.
 */
#include "host/unwind/walk_private.h"
#include "shared/arch/elf.h"
#include "shared/unwind/goroutine.h"
#include "shared/unwind/luajit.h"

/* The goroutine that this thread's own stack works for; 0: none. */
static bool find_goroutine(struct walk *walk, unsigned goroutine_at, uint64_t *ret)
{
	uint64_t m, own;

	return walk->go && goroutine_at && walk_read_word(walk, walk->go + GO_G_M, &m) &&
	       walk_read_word(walk, m + GO_M_G0, &own) &&
	       walk_read_word(walk, m + goroutine_at, ret) && (own == walk->go || *ret == walk->go);
}

static bool read_gobuf(struct walk *walk, uint64_t g, bool is_long)
{
	uint64_t words[GO_GOBUF_WORDS];

	for (unsigned i = 0; i < GO_GOBUF_WORDS; i++)
		if (!walk_read_word(walk, g + GO_G_GOBUF + i * WORD, &words[i]))
			return false;
	walk->at.sp = words[GO_GOBUF_SP];
	walk->at.pc = words[GO_GOBUF_PC];
	walk->at.lr = words[GO_GOBUF_LR_OF_SIX + is_long];
	walk->at.fp = words[GO_GOBUF_BP_OF_SIX + is_long];
	return walk->at.sp && walk->at.pc;
}

/* Without a goroutine it is the scheduler, or that ran a moment later: this is read after the
 * copy. */
int walk_step_gobuf(struct walk *walk, const struct unwind_row *row)
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

/* Continues at the frame that called C. */
int walk_step_cgo(struct walk *walk, const struct unwind_row *row)
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
	if (!walk_read_word(walk, kept, &g) ||
	    !walk_read_word(walk, kept + (uint64_t)(GO_DEPTH_FROM_G * WORD), &depth) ||
	    (g && !walk_read_word(walk, g + GO_G_STACK_END, &end)))
		return STACK_SWITCHED;
	if (g)
		walk->go = g;
	walk->at.sp = g ? end - depth : depth;
	return walk_step_row(walk, &frame, walk->at.sp + frame.cfa * (uint64_t)WORD);
}

/* Where runtime.cgocallback left the thread's own stack; of several callbacks, inner ones first. */
static bool find_callback(struct walk *walk, uint64_t *ret)
{
	uint64_t m, own;

	if (walk->called_back)
		return walk_read_word(walk, walk->called_back, ret);
	return walk->go && walk_read_word(walk, walk->go + GO_G_M, &m) &&
	       walk_read_word(walk, m + GO_M_G0, &own) &&
	       walk_read_word(walk, own + GO_G_GOBUF + (uint64_t)GO_GOBUF_SP * WORD, ret);
}

int walk_step_called_back(struct walk *walk, const struct unwind_row *row)
{
	const struct unwind_row frame = { .kind = UNWIND_SP, .cfa = row->cfa, .fp = row->fp };
	uint64_t sp;

	if (++walk->signals > SIGNALS_MAX)
		return STACK_CIRCULAR;
	if (!find_callback(walk, &sp) || !sp)
		return STACK_SWITCHED;
	walk->at.sp = walk->called_back = sp;
	return walk_step_row(walk, &frame, sp + frame.cfa * (uint64_t)WORD);
}

/* The caller was interrupted, not called from: it continues at its pc, and its lr was pushed. */
int walk_step_pushed(struct walk *walk, const struct unwind_row *row)
{
	uint64_t cfa = walk->at.sp + row->cfa * (uint64_t)WORD, lr = 0;
	int r;

	if (++walk->signals > SIGNALS_MAX)
		return STACK_CIRCULAR;
	if (!ARCH_RETURN_ON_STACK && !walk_read_word(walk, cfa - 2 * WORD, &lr))
		return STACK_UNREADABLE;
	r = walk_step_row(walk, row, cfa);
	if (r != GOES_ON)
		return r;
	walk->at.lr = lr;
	walk->at.is_lr_unknown = false;
	walk->is_exact = true;
	walk->range = space_find(walk->space, walk->at.pc);
	return walk->range ? GOES_ON : STACK_NO_MAP;
}

int walk_step_other_fp(struct walk *walk, const struct unwind_row *row)
{
	if (walk->at.is_fp_unknown)
		return walk_lacks_fp(walk);
	if (++walk->signals > SIGNALS_MAX)
		return STACK_CIRCULAR;
	walk->at.sp = walk->at.fp;
	return walk_step_row(walk, row, walk->at.fp + row->cfa * (uint64_t)WORD);
}

/* LuaJIT's frame, at sp or above; 0: not found. */
static uint64_t find_luajit(struct walk *walk)
{
	uint64_t state, frame;

	for (uint64_t at = walk->at.sp, i = 0; i < LUAJIT_REACH; i++, at += WORD) {
		if (!walk_read_word(walk, at + LUAJIT_FRAME_STATE, &state))
			return 0;
		if (luajit_may_be_state(state) &&
		    walk_read_word(walk, state + LUAJIT_STATE_FRAME, &frame) &&
		    (frame & LUAJIT_FRAME_MASK) == at)
			return at;
	}
	return 0;
}

/* Whether sp is that of a frame, although its state may run another one by now. */
static bool is_luajit_frame(struct walk *walk)
{
	uint64_t state, head;

	return walk_read_word(walk, walk->at.sp + LUAJIT_FRAME_STATE, &state) &&
	       luajit_may_be_state(state) &&
	       walk_read_word(walk, state + LUAJIT_STATE_HEAD, &head) && luajit_is_state(head);
}

int walk_step_luajit(struct walk *walk, const struct unwind_row *row)
{
	const struct unwind_row frame = { .kind = UNWIND_SP,
					  .cfa = row->cfa & LUAJIT_SIZE_MASK,
					  .fp = row->fp };
	uint64_t sp = walk->at.sp;

	if (!(row->cfa & LUAJIT_ASSEMBLY) || walk->is_exact || !is_luajit_frame(walk))
		sp = find_luajit(walk);
	return sp ? walk_step_row(walk, &frame, sp + frame.cfa * (uint64_t)WORD) : STACK_GENERATED;
}
