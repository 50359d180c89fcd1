/*
 * Walks up the stack of a thread by the tables of the host.  Memory is read in pieces that end with
 * their page: a read that fails costs more than a hundred that do not.
 */
#pragma once

#include "kernel/machine.h"
#include "kernel/maps.h"
#include "shared/arch/signal_frame.h"
#include "shared/unwind/goroutine.h"
#include "shared/unwind/luajit.h"
#include "shared/unwind/unframed.h"

#define PAGE_SIZE     4096
#define LINE_SIZE     64
#define CHUNK_SIZE    1024
#define FRAMES_MASK   2047      /* those of the kernel and SAMPLE_FRAMES_MAX fit below it */
#define RANGE_STEPS   13        /* halvings until one of KERNEL_RANGES_MAX is left */
#define ROW_STEPS     9         /* the same for the rows of a page: one for each byte at most */
#define FP_REACH      (1 << 20) /* the frame-pointer rule believes no larger frame */
#define SIGNALS_MAX   16        /* frames of signals in one stack */
#define DOUBT_REACH   (8 << 10) /* so far up a frame is looked for */
#define LUAJIT_FRAMES 16        /* so many are kept; a power of two */
#define KNOWN_BITS    9         /* so many rules are kept, as a power of two */
#define MET_BITS      14        /* the same, of all processors */
#define KNOWN_STEPS   4 /* frames at once, where their rules are known; more cost the verifier */

_Static_assert(SAMPLE_FRAMES_MAX + KERNEL_FRAMES_MAX <= FRAMES_MASK, "frames fit");

/* The rule of an address that was met before.  Programs return to few addresses: nearly all frames
 * are spared the search.  It holds as long as the process has the same ranges. */
struct known_rule {
	__u64 address;
	__u32 generation;
	__u16 cfa;
	__s8 fp;
	__u8 kind;
};

/* The same for all processors: large programs return to more addresses than fit beside a walk, and
 * a search reads a dozen lines of memory that nobody has near.  Two may write one at once; then the
 * two words do not fit each other, and it is of no address. */
struct met_rule {
	__u64 key;  /* the address, and the other word spread over it */
	__u64 rule; /* generation, cfa, fp, kind */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << MET_BITS);
	__type(key, __u32);
	__type(value, struct met_rule);
} met_rules SEC(".maps");

struct walk {
	__u64 pc, sp, fp, lr;
	__u64 unknown; /* the address that ended the walk, where nothing is mapped */
	__u64 chunk_start, chunk_size;
	__u32 first_range, range_count, generation;
	__u8 is_exact;      /* pc is where the thread is, not where a call returns to */
	__u8 is_innermost;  /* `registers` are those of this frame */
	__u8 was_guided;    /* the last step was by the frame pointer */
	__u8 was_innermost; /* `registers` are those of whom it has called */
	__u8 is_sp_lost;    /* sp is lower than the true one, or equal (aarch64) */
	__u8 signals;       /* and other switches of stacks */
	__u8 luajit_count;
	__u8 is_luajit_exact;        /* the innermost one is where the thread stands */
	__u8 is_luajit_compiled;     /* its code is compiled, not the assembly */
	__u16 luajit_number;         /* of its native frame */
	__u64 luajit_fp;             /* fp in it */
	__u64 luajit[LUAJIT_FRAMES]; /* where frames of LuaJIT lie, innermost first */
	__u64 below;                 /* sp of whom it has called */
	__u64 start_stack;           /* of the process; see struct kernel_process */
	__u64 go;                    /* what is in the register of goroutines */
	/* Behind a function that throws (UNWIND_THROWS): where the walk was then.  0: nowhere. */
	__u64 doubted_ra, doubted_sp, doubted_fp;
	__u64 seeking;  /* where the call is looked for that returns there; 0: it is not */
	__u64 tried_sp; /* the last one with which the walk went on there; 0: none */
	__u16 doubted_count;
	struct kernel_range range; /* of the last frame */
	union {
		__u8 bytes[UNFRAMED_BYTES];
		__u32 words[UNFRAMED_WORDS];
	} code; /* before which the thread stands */
	struct pt_regs registers;
	struct sample sample;
	__u64 frames[FRAMES_MASK + 1]; /* the sample's own */
	__u8 chunk[CHUNK_SIZE];
	struct known_rule known[1 << KNOWN_BITS]; /* stays from walk to walk */
};

/* What a step gets.  task: whose memory is read when it is not the current one's. */
struct climb {
	struct walk *walk;
	struct task_struct *task;
};

enum step_result {
	STEP_ON = 0,
	STEP_END = 1,
};

/* clang must not fold what it knows into pointers that the verifier cannot follow. */
#define BOUND(index, mask) asm volatile("%0 &= %1" : "+r"(index) : "i"(mask))

/* ITERATOR: this object walks the stacks of others; see threads.bpf.c. */
ALWAYS_INLINE long read_memory(struct climb *climb, void *to, __u32 size, __u64 address)
{
#ifdef ITERATOR
	return bpf_copy_from_user_task(to, size, (void *)address, climb->task, 0);
#else
	return bpf_probe_read_user(to, size, (void *)address);
#endif
}

/* A word of the piece that was read last. */
ALWAYS_INLINE int word_at_hand(const struct walk *walk, __u64 address, __u64 *ret)
{
	__u64 offset = address - walk->chunk_start;

	if ((address & 7) || offset >= walk->chunk_size)
		return STEP_END;
	BOUND(offset, CHUNK_SIZE - 8);
	*ret = *(const __u64 *)(walk->chunk + offset);
	return STEP_ON;
}

ALWAYS_INLINE int read_word(struct climb *climb, __u64 address, __u64 *ret)
{
	struct walk *walk = climb->walk;
	__u64 start = address & ~(LINE_SIZE - 1ull);
	__u32 size = PAGE_SIZE - (start & (PAGE_SIZE - 1));

	if (word_at_hand(walk, address, ret) == STEP_ON)
		return STEP_ON;
	if (size > CHUNK_SIZE)
		size = CHUNK_SIZE;
	walk->chunk_size = 0;
	if (read_memory(climb, walk->chunk, size, start))
		return STEP_END;
	walk->chunk_start = start;
	walk->chunk_size = size;
	return word_at_hand(walk, address, ret);
}

ALWAYS_INLINE int end_walk(struct walk *walk, enum stack_end end)
{
	walk->sample.end = end;
	return STEP_END;
}

ALWAYS_INLINE int range_find(struct walk *walk, __u64 address)
{
	__u32 low = walk->first_range, high = low + walk->range_count, end = high;
	struct kernel_range *range;

	if (address >= walk->range.start && address < walk->range.end)
		return 1;
	for (int i = 0; i < RANGE_STEPS && low < high; i++) {
		__u32 middle = low + (high - low) / 2;

		range = bpf_map_lookup_elem(&ranges, &middle);
		if (range && range->end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	range = low < end ? bpf_map_lookup_elem(&ranges, &low) : 0;
	if (!range || range->start > address || range->end <= address)
		return 0;
	walk->range = *range;
	return 1;
}

/* The rule of an address in walk->range; UNWIND_NONE where there is none. */
ALWAYS_INLINE struct unwind_row row_find(const struct walk *walk, __u64 address)
{
	__u64 offset = address - walk->range.base, number = offset >> UNWIND_PAGE_BITS;
	struct unwind_row none = { .kind = walk->range.is_made ? UNWIND_NEWER : UNWIND_NONE }, *row;
	__u32 key = walk->range.page + (__u32)number, low, high;
	struct kernel_page *page;

	if (number >= walk->range.page_count)
		return none;
	page = bpf_map_lookup_elem(&pages, &key);
	if (!page)
		return none;
	low = page->first;
	high = page->last;
	for (int i = 0; i < ROW_STEPS && low < high; i++) {
		__u32 middle = low + (high - low + 1) / 2;

		row = bpf_map_lookup_elem(&rows, &middle);
		if (row && row->pc <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	row = bpf_map_lookup_elem(&rows, &low);
	return row && row->pc <= offset ? *row : none;
}

/* Where the rule of this address is kept, or another with which it shares the place. */
ALWAYS_INLINE struct known_rule *known_place(struct walk *walk, __u64 address)
{
	__u64 at = (__u32)address * 0x9e3779b1u >> (32 - KNOWN_BITS);

	BOUND(at, (1 << KNOWN_BITS) - 1);
	return &walk->known[at];
}

ALWAYS_INLINE int is_known(const struct walk *walk, const struct known_rule *rule, __u64 address)
{
	return rule->address == address && rule->generation == walk->generation;
}

ALWAYS_INLINE struct met_rule *met_place(__u64 address)
{
	__u32 at = (__u32)address * 0x9e3779b1u >> (32 - MET_BITS);

	return bpf_map_lookup_elem(&met_rules, &at);
}

ALWAYS_INLINE __u64 met_key(__u64 address, __u64 rule)
{
	return address ^ rule * 0x9e3779b97f4a7c15u;
}

/* The rule of an address that any processor has met; false: none. */
ALWAYS_INLINE int met_find(const struct walk *walk, __u64 address, struct known_rule *ret)
{
	const volatile struct met_rule *met = met_place(address);
	__u64 key, rule;

	if (!met)
		return 0;
	key = met->key;
	rule = met->rule;
	if (key != met_key(address, rule) || rule >> 32 != walk->generation)
		return 0;
	*ret = (struct known_rule){ address, walk->generation, rule >> 16, rule >> 8, rule };
	return 1;
}

ALWAYS_INLINE void met_keep(const struct known_rule *known)
{
	volatile struct met_rule *met = met_place(known->address);
	__u64 rule = (__u64)known->generation << 32 | (__u64)known->cfa << 16 |
		     (__u64)(__u8)known->fp << 8 | known->kind;

	if (!met)
		return;
	met->rule = rule;
	met->key = met_key(known->address, rule);
}

/* Rules of these two kinds are not whole without their range. */
ALWAYS_INLINE int is_whole(struct unwind_row row)
{
	__u8 kind = row.kind & UNWIND_KIND_MASK;

	return kind != UNWIND_NONE && kind != UNWIND_SPECIAL;
}

/* Where the frame's parts lie. */
struct plan {
	__u64 cfa;
	__u64 fp_at, ra_at; /* 0: the value is in the register still */
	__u64 ra;           /* it, where ra_at is 0 */
};

/* A chain that ended in 0: nobody says that a stack begins here. */
ALWAYS_INLINE enum stack_end zero_end(const struct walk *walk)
{
	return walk->range.is_file ? STACK_ZERO : STACK_GENERATED;
}

/* Code without rules: it may keep frame pointers, as most JIT code does.  A chain that ends in 0,
 * or reaches a function of a file with 0, goes no further, and is not complete: that 0 may be a
 * register that the code uses for something else.  Where calls do not push, the frame may go on
 * above the two words that fp points to. */
ALWAYS_INLINE int plan_by_fp(struct walk *walk, struct plan *plan)
{
	__u64 fp = walk->fp;

	if (!fp && !walk->is_exact && (walk->was_guided || walk->range.is_file))
		return end_walk(walk, zero_end(walk));
	if (fp < walk->sp || fp - walk->sp > FP_REACH || (fp & 7))
		return end_walk(walk, STACK_NO_TABLE);
	plan->cfa = fp + 16;
	plan->fp_at = fp;
	plan->ra_at = fp + 8;
	plan->ra = 0;
	return STEP_ON;
}

struct ahead {
	struct walk *walk;
	struct unframed_look look;
};

static long take_word(__u32 index, struct ahead *ahead)
{
	return unframed_take(&ahead->look, ahead->walk->code.words[index & (UNFRAMED_WORDS - 1)]);
}

/* unframed_aarch64() as a loop of the kernel's: as one of our own, checking it took the kernel most
 * of a second. */
ALWAYS_INLINE struct unframed look_ahead(struct walk *walk)
{
	struct ahead ahead = { .walk = walk };

	bpf_loop(UNFRAMED_WORDS, take_word, &ahead, 0);
	return unframed_judge(&ahead.look);
}

/* The same where the frame is not there, or not any more.  STEP_END: it is. */
ALWAYS_INLINE int plan_unframed(struct climb *climb, struct plan *plan)
{
	struct walk *walk = climb->walk;
	__u32 size = PAGE_SIZE - (walk->pc & (PAGE_SIZE - 1));
	struct unframed unframed;
	__u64 at, fp;

	if (!walk->is_exact)
		return STEP_END;
	if (size < sizeof(walk->code))
		__builtin_memset(&walk->code, 0, sizeof(walk->code));
	else
		size = sizeof(walk->code);
	if (read_memory(climb, &walk->code, size, walk->pc))
		return STEP_END;
	unframed = RETURN_ON_STACK ? unframed_x86_64(walk->code.bytes) : look_ahead(walk);
	if (unframed.kind == UNFRAMED_NOT)
		return STEP_END;
	at = walk->sp + (__s64)unframed.distance;
	*plan = (struct plan){ .cfa = at, .ra = walk->lr };
	if (unframed.kind == UNFRAMED_BARE && RETURN_ON_STACK)
		*plan = (struct plan){ .cfa = at + 8, .ra_at = at };
	if (unframed.kind == UNFRAMED_BARE)
		return STEP_ON;
	*plan = (struct plan){ .cfa = at + 16, .fp_at = at, .ra_at = at + 8 };
	return read_word(climb, at, &fp) || (!RETURN_ON_STACK && fp != walk->fp) ? STEP_END
										 : STEP_ON;
}

ALWAYS_INLINE __u64 register_by_number(const struct walk *walk, __u64 number)
{
	static const volatile __u8 places[DWARF_REGISTERS] = DWARF_PLACES;
	__u64 place;

	BOUND(number, DWARF_REGISTERS - 1);
	place = places[number];
	return place < sizeof(struct pt_regs) / 8 ? ((const __u64 *)&walk->registers)[place] : 0;
}

/* 0: it is in the register still. */
ALWAYS_INLINE __u64 place_of_saved(const struct walk *walk, const struct plan *plan, __u8 saved,
				   __s32 offset)
{
	__u64 base = plan->cfa;

	if (saved == UNWIND_SAVED_NOT)
		return 0;
	if (saved == UNWIND_SAVED_AT_BASE)
		base = walk->fp;
	if (saved == UNWIND_SAVED_AT_SP)
		base = walk->sp;
	return base + (__s64)offset;
}

/* A place below sp where whom it has called saves something: not yet, or not any more. */
ALWAYS_INLINE int is_unsaved(const struct walk *walk, __u8 base, __u64 address)
{
	return base == UNWIND_BASE_SP && !walk->is_exact && address < walk->below;
}

ALWAYS_INLINE int plan_by_special(struct climb *climb, __u32 number, struct plan *plan)
{
	struct walk *walk = climb->walk;
	__u32 key = walk->range.special + number;
	struct unwind_special *special = bpf_map_lookup_elem(&specials, &key);
	__u64 base = walk->sp;

	if (!special)
		return end_walk(walk, STACK_NO_RULE);
	if (special->base == UNWIND_BASE_FP)
		base = walk->fp;
	if (special->base >= UNWIND_BASE_REGISTER) {
		if (!walk->is_innermost && !(special->is_kept && walk->was_innermost))
			return end_walk(walk, STACK_NO_RULE);
		base = register_by_number(walk, special->base - UNWIND_BASE_REGISTER);
	}
	base += (__s64)special->offset;
	if (special->is_dereferenced && special->offset < 0 &&
	    is_unsaved(walk, special->base, base))
		return end_walk(walk, STACK_NO_RULE);
	if (special->is_dereferenced && read_word(climb, base, &base))
		return end_walk(walk, STACK_UNREADABLE);
	plan->cfa = base + (__s64)special->addition;
	if (special->is_floored) {
		base = special->fp_saved == UNWIND_SAVED_AT_BASE ? walk->fp + 16 : walk->sp;
		plan->cfa = plan->cfa < base ? base : plan->cfa;
	}
	plan->fp_at = place_of_saved(walk, plan, special->fp_saved, special->fp_offset);
	plan->ra = walk->lr;
	if (special->ra_saved == UNWIND_SAVED_IN) {
		plan->ra_at = 0;
		plan->ra = register_by_number(walk, special->ra_offset);
		return walk->is_innermost ? STEP_ON : end_walk(walk, STACK_NO_RULE);
	}
	plan->ra_at = place_of_saved(walk, plan, special->ra_saved, special->ra_offset);
	return STEP_ON;
}

/* A row of one of the plain kinds. */
ALWAYS_INLINE void plan_by_row(const struct walk *walk, struct unwind_row row, struct plan *plan)
{
	__u8 kind = row.kind & UNWIND_KIND_MASK;
	__u64 cfa = (kind == UNWIND_FP ? walk->fp : walk->sp) + (__u64)row.cfa * 8;

	if (kind == UNWIND_PLT)
		cfa = walk->sp + 8 + ((walk->pc & 15) >= row.cfa ? 8 : 0);
	plan->cfa = cfa;
	plan->fp_at = row.fp == UNWIND_FP_SAME ? 0 : cfa + (__s64)row.fp * 8;
	plan->ra_at = cfa - 8;
	plan->ra = walk->lr;
	if (RETURN_ON_STACK)
		return;
	plan->ra_at = row.kind & UNWIND_RA_IN_REGISTER ? 0 : plan->fp_at + 8;
	if (row.kind & UNWIND_RA_ALONE) {
		plan->ra_at = plan->fp_at;
		plan->fp_at = 0;
	}
}

/* All registers come from what the kernel laid on the stack. */
ALWAYS_INLINE int step_over_signal(struct climb *climb)
{
	struct walk *walk = climb->walk;
	__u64 sp = walk->sp, pc, fp, next;
	__u64 at = walk->sample.kernel_count + walk->sample.user_count - 1;

	if (walk->signals++ >= SIGNALS_MAX)
		return end_walk(walk, STACK_CIRCULAR);
	/* Nobody has called from the trampoline: it is looked up where it is. */
	BOUND(at, FRAMES_MASK);
	walk->frames[at] += !walk->is_exact;
	if (read_word(climb, sp + SIGNAL_FRAME_GO, &walk->go) ||
	    read_word(climb, sp + SIGNAL_FRAME_FP, &fp) ||
	    read_word(climb, sp + SIGNAL_FRAME_SP, &next) ||
	    read_word(climb, sp + SIGNAL_FRAME_PC, &pc))
		return end_walk(walk, STACK_UNREADABLE);
#ifdef SIGNAL_FRAME_LR
	if (read_word(climb, sp + SIGNAL_FRAME_LR, &walk->lr))
		return end_walk(walk, STACK_UNREADABLE);
#endif
	walk->pc = pc;
	walk->fp = fp;
	walk->sp = next;
	walk->is_exact = 1;
	walk->is_innermost = walk->was_innermost = 0;
	return STEP_ON;
}

/* A word of Go's, not of a stack. */
ALWAYS_INLINE __u64 go_word(struct climb *climb, __u64 address)
{
	__u64 word = 0;

	return read_memory(climb, &word, sizeof(word), address) ? 0 : word;
}

/* The registers of the goroutine that this thread's own stack works for.  Without one it is the
 * scheduler: its stack begins here. */
ALWAYS_INLINE int step_to_goroutine(struct climb *climb, __u32 goroutine_at)
{
	struct walk *walk = climb->walk;
	__u64 words[GO_GOBUF_WORDS] = { 0 }, m = 0, g = 0, own = 0;
	__u32 is_long = goroutine_at == GO_M_GOROUTINE_OF_SEVEN;

	if (walk->signals++ >= SIGNALS_MAX)
		return end_walk(walk, STACK_CIRCULAR);
	if (walk->go)
		m = go_word(climb, walk->go + GO_G_M);
	if (m && goroutine_at) {
		g = go_word(climb, m + goroutine_at);
		own = go_word(climb, m + GO_M_G0);
	}
	if (!own || (g != walk->go && own != walk->go))
		return end_walk(walk, STACK_SWITCHED);
	if (!g)
		return end_walk(walk, STACK_COMPLETE);
	if (read_memory(climb, words, sizeof(words), g + GO_G_GOBUF) || !words[GO_GOBUF_SP] ||
	    !words[GO_GOBUF_PC])
		return end_walk(walk, STACK_SWITCHED);
	walk->sp = words[GO_GOBUF_SP];
	walk->pc = words[GO_GOBUF_PC];
	walk->lr = is_long ? words[GO_GOBUF_LR_OF_SIX + 1] : words[GO_GOBUF_LR_OF_SIX];
	walk->fp = is_long ? words[GO_GOBUF_BP_OF_SIX + 1] : words[GO_GOBUF_BP_OF_SIX];
	walk->is_exact = 1;
	walk->is_innermost = walk->was_innermost = walk->is_sp_lost = 0;
	return STEP_ON;
}

/* To the stack from which C was called.  The row becomes that of the frame there. */
ALWAYS_INLINE int leave_cgo(struct climb *climb, struct unwind_row *row)
{
	struct walk *walk = climb->walk;
	__u64 kept = walk->sp + (__u64)(row->cfa & 0xff) * 8, g, depth;
	__u16 words = row->cfa >> 8;

	if (walk->signals++ >= SIGNALS_MAX)
		return end_walk(walk, STACK_CIRCULAR);
	if (read_word(climb, kept, &g) || read_word(climb, kept + GO_DEPTH_FROM_G * 8, &depth))
		return end_walk(walk, STACK_UNREADABLE);
	walk->sp = g ? go_word(climb, g + GO_G_STACK_END) - depth : depth;
	row->kind = UNWIND_SP;
	row->cfa = words + RETURN_ON_STACK;
	row->fp = !words ? UNWIND_FP_SAME : RETURN_ON_STACK ? -2 : -(__s8)words - 1;
	return STEP_ON;
}

ALWAYS_INLINE int leave_by_fp(struct walk *walk, struct unwind_row *row)
{
	if (walk->signals++ >= SIGNALS_MAX)
		return end_walk(walk, STACK_CIRCULAR);
	walk->sp = walk->fp;
	row->kind = UNWIND_FP;
	return STEP_ON;
}

struct luajit_search {
	struct climb *climb;
	__u64 found;
};

static long luajit_look(__u32 index, struct luajit_search *search)
{
	__u64 at = search->climb->walk->sp + (__u64)index * 8, state, frame = 0;

	if (read_word(search->climb, at + LUAJIT_FRAME_STATE, &state))
		return STEP_END;
	if (!luajit_may_be_state(state) ||
	    read_memory(search->climb, &frame, sizeof(frame), state + LUAJIT_STATE_FRAME) ||
	    (frame & LUAJIT_FRAME_MASK) != at)
		return STEP_ON;
	search->found = at;
	return STEP_END;
}

/* For who looks at what runs in it. */
ALWAYS_INLINE void luajit_keep(struct walk *walk, __u16 cfa, __u64 frame)
{
	__u64 at = walk->luajit_count;

	if (at >= LUAJIT_FRAMES)
		return;
	if (!at) {
		walk->is_luajit_exact = walk->is_exact;
		walk->is_luajit_compiled = !(cfa & LUAJIT_ASSEMBLY);
		walk->luajit_number = walk->sample.user_count - 1;
		walk->luajit_fp = walk->fp;
	}
	BOUND(at, LUAJIT_FRAMES - 1);
	walk->luajit[at] = frame;
	walk->luajit_count = at + 1;
}

/* Whether sp is that of a frame, although its state may run another one by now. */
ALWAYS_INLINE int is_luajit_frame(struct climb *climb)
{
	__u64 state, head = 0;

	return !read_word(climb, climb->walk->sp + LUAJIT_FRAME_STATE, &state) &&
	       luajit_may_be_state(state) &&
	       !read_memory(climb, &head, sizeof(head), state + LUAJIT_STATE_HEAD) &&
	       luajit_is_state(head);
}

/* Up to LuaJIT's frame.  The row becomes that of a frame at sp. */
ALWAYS_INLINE int climb_to_luajit(struct climb *climb, struct unwind_row *row)
{
	struct luajit_search search = { .climb = climb };

	row->kind = UNWIND_SP;
	if (row->cfa & LUAJIT_ASSEMBLY && !climb->walk->is_exact && is_luajit_frame(climb))
		search.found = climb->walk->sp;
	else
		bpf_loop(LUAJIT_REACH, luajit_look, &search, 0);
	if (!search.found)
		return end_walk(climb->walk, STACK_GENERATED);
	luajit_keep(climb->walk, row->cfa, search.found);
	climb->walk->sp = search.found;
	row->cfa &= LUAJIT_SIZE_MASK;
	return STEP_ON;
}

/* Makes the row one that needs no sp.  STEP_END: that cannot be said of it. */
ALWAYS_INLINE int do_without_sp(struct walk *walk, struct unwind_row *row)
{
	__u8 kind = row->kind & UNWIND_KIND_MASK;

	if (kind == UNWIND_SP && row->kind & UNWIND_FP_HELD) {
		row->kind = UNWIND_FP;
		row->cfa = -row->fp;
		return STEP_ON;
	}
	if (kind == UNWIND_SP || kind == UNWIND_SPECIAL || kind == UNWIND_SIGNAL ||
	    kind == UNWIND_GO_CGO || kind == UNWIND_GO_PUSHED)
		return end_walk(walk, STACK_NO_RULE);
	return STEP_ON;
}

ALWAYS_INLINE int step_by_plan(struct climb *climb, const struct plan *plan)
{
	struct walk *walk = climb->walk;
	__u64 ra = plan->ra, fp = walk->fp;

	if (plan->cfa < walk->sp ||
	    (plan->cfa == walk->sp && ((RETURN_ON_STACK && plan->ra_at) || !walk->is_exact)))
		return end_walk(walk, STACK_CIRCULAR);
	/* A caller's link register was overwritten by its call. */
	if (plan->ra_at ? read_word(climb, plan->ra_at, &ra) : !walk->is_exact)
		return end_walk(walk, STACK_UNREADABLE);
	if (plan->fp_at && read_word(climb, plan->fp_at, &fp))
		return end_walk(walk, STACK_UNREADABLE);
	ra = CODE_ADDRESS(ra);
	if (!ra) /* with a frame pointer it is a stack that is being changed */
		return end_walk(walk, plan->cfa == walk->start_stack ? STACK_COMPLETE
				      : !fp                          ? zero_end(walk)
				      : walk->was_guided             ? STACK_NO_TABLE
								     : STACK_NO_MAP);
	walk->pc = ra;
	walk->below = walk->sp;
	walk->sp = plan->cfa;
	walk->is_sp_lost = 0;
	walk->fp = fp;
	walk->is_exact = 0;
	walk->was_innermost = walk->is_innermost;
	walk->is_innermost = 0;
	return STEP_ON;
}

/* Frames above the innermost one are looked up at the byte before their address.  One that a signal
 * interrupted has no call there: one more is written for it, so that the rule holds for all. */
ALWAYS_INLINE int keep_frame(struct walk *walk)
{
	__u64 at = walk->sample.user_count;

	if (at >= SAMPLE_FRAMES_MAX)
		return end_walk(walk, STACK_CUT);
	walk->sample.user_count = at + 1;
	at += walk->sample.kernel_count;
	BOUND(at, FRAMES_MASK);
	walk->frames[at] = walk->pc + (walk->is_exact && !walk->is_innermost);
	return STEP_ON;
}

/* An address that is in no code is kept only as the innermost one. */
ALWAYS_INLINE int enter_frame(struct walk *walk, __u64 address)
{
	int is_known = range_find(walk, address);

	if ((is_known || walk->is_innermost) && keep_frame(walk))
		return STEP_END;
	if (is_known)
		return STEP_ON;
	walk->unknown = walk->pc;
	return end_walk(walk, walk->was_guided ? STACK_NO_TABLE : STACK_NO_MAP);
}

/* Keeps the frame and finds its rule. */
ALWAYS_INLINE int enter_frame_with_rule(struct walk *walk, __u64 address, struct unwind_row *ret)
{
	struct known_rule *rule = known_place(walk, address);

	if (is_known(walk, rule, address) || met_find(walk, address, rule)) {
		*ret = (struct unwind_row){ 0, rule->cfa, rule->fp, rule->kind };
		return keep_frame(walk);
	}
	if (enter_frame(walk, address))
		return STEP_END;
	*ret = row_find(walk, address);
	if (!is_whole(*ret))
		return STEP_ON;
	*rule = (struct known_rule){ address, walk->generation, ret->cfa, ret->fp, ret->kind };
	met_keep(rule);
	return STEP_ON;
}

/* What the call returns to; 0: it cannot be told.  Some C libraries have no rules for where signal
 * handlers and threads return to. */
ALWAYS_INLINE __u64 read_code(struct climb *climb)
{
	struct walk *walk = climb->walk;
	__u64 code = 0;

	if (walk->is_exact || !walk->range.is_file ||
	    read_memory(climb, &code, sizeof(code), walk->pc))
		return 0;
	return code;
}

ALWAYS_INLINE long step_without_rule(struct climb *climb)
{
	struct walk *walk = climb->walk;
	__u64 code = read_code(climb);
	struct plan plan;

	if (code == THREAD_END)
		return end_walk(walk, STACK_COMPLETE);
	if (!walk->is_sp_lost && code == SIGNAL_TRAMPOLINE)
		return step_over_signal(climb);
	if (plan_unframed(climb, &plan) && plan_by_fp(walk, &plan))
		return STEP_END;
	walk->was_guided = 1;
	if (step_by_plan(climb, &plan))
		return STEP_END;
	walk->is_sp_lost = !RETURN_ON_STACK;
	return STEP_ON;
}

/* At its end it goes to the handler, which nobody has called; before, ra may be of another frame.
 */
ALWAYS_INLINE void doubt(struct walk *walk, __u8 kind, __u8 was_exact)
{
	if (RETURN_ON_STACK && was_exact && kind != UNWIND_FP) {
		walk->is_exact = 1;
		return;
	}
	if (walk->doubted_ra || walk->sample.flags & SAMPLE_GUESSED)
		return;
	walk->doubted_ra = walk->pc;
	walk->doubted_sp = walk->sp;
	walk->doubted_fp = walk->fp;
	walk->doubted_count = walk->sample.user_count;
}

static long climb_one(struct climb *climb)
{
	struct walk *walk = climb->walk;
	__u64 address = walk->is_exact ? walk->pc : walk->pc - 1;
	struct plan plan;
	struct unwind_row row;
	__u64 pushed = 0;
	__u8 kind, was_exact = walk->is_exact;

	if (enter_frame_with_rule(walk, address, &row) ||
	    (!RETURN_ON_STACK && walk->is_sp_lost && do_without_sp(walk, &row)))
		return STEP_END;
	kind = row.kind & UNWIND_KIND_MASK;
	if (kind == UNWIND_NONE)
		return step_without_rule(climb);
	walk->was_guided = 0;
	if (kind == UNWIND_END)
		return end_walk(walk, STACK_COMPLETE);
	if (kind == UNWIND_SIGNAL)
		return step_over_signal(climb);
	if (kind == UNWIND_NEWER) {
		walk->unknown = walk->pc;
		return end_walk(walk, STACK_NO_TABLE);
	}
	if (kind == UNWIND_GO_GOBUF)
		return step_to_goroutine(climb, (__u32)row.cfa * 8);
	if (kind == UNWIND_GO_CGO && leave_cgo(climb, &row))
		return STEP_END;
	if (kind == UNWIND_GO_FP && leave_by_fp(walk, &row))
		return STEP_END;
	if (kind == UNWIND_LUAJIT && climb_to_luajit(climb, &row))
		return STEP_END;
	if (kind == UNWIND_BAD || kind >= UNWIND_KINDS)
		return end_walk(walk, row.cfa == UNWIND_BAD_JIT ? STACK_GENERATED : STACK_NO_RULE);
	if (kind != UNWIND_SPECIAL)
		plan_by_row(walk, row, &plan);
	else if (plan_by_special(climb, row.cfa, &plan))
		return STEP_END;
	if (!RETURN_ON_STACK && kind == UNWIND_GO_PUSHED &&
	    read_word(climb, plan.cfa - 16, &pushed))
		return end_walk(walk, STACK_UNREADABLE);
	if (step_by_plan(climb, &plan))
		return STEP_END;
	if (row.kind & UNWIND_THROWS)
		doubt(walk, kind, was_exact);
	if (kind == UNWIND_GO_PUSHED) {
		walk->lr = pushed; /* the caller has not called: it is where it stands */
		walk->is_exact = 1;
	}
	return STEP_ON;
}

struct position {
	__u64 pc, sp, fp;
};

/* From a caller to its own, where everything for that is at hand.  STEP_END: it is not, or
 * something is odd; climb_one will see. */
ALWAYS_INLINE int climb_known(struct walk *walk, struct position *at)
{
	const struct known_rule *rule = known_place(walk, at->pc - 1);
	struct position next = { .fp = at->fp };
	__u8 kind = RETURN_ON_STACK ? rule->kind : rule->kind & ~UNWIND_FP_HELD;
	__u64 fp_at;

	if (!is_known(walk, rule, at->pc - 1) || (kind != UNWIND_SP && kind != UNWIND_FP) ||
	    (!RETURN_ON_STACK && rule->fp == UNWIND_FP_SAME))
		return STEP_END;
	next.sp = (kind == UNWIND_FP ? at->fp : at->sp) + (__u64)rule->cfa * 8;
	fp_at = next.sp + (__s64)rule->fp * 8;
	if (next.sp <= at->sp ||
	    word_at_hand(walk, RETURN_ON_STACK ? next.sp - 8 : fp_at + 8, &next.pc) ||
	    (rule->fp != UNWIND_FP_SAME && word_at_hand(walk, fp_at, &next.fp)))
		return STEP_END;
	next.pc = CODE_ADDRESS(next.pc);
	if (!next.pc)
		return STEP_END;
	*at = next;
	return STEP_ON;
}

/* Most frames are such ones.  Several in a row: what they share stays in registers. */
ALWAYS_INLINE void climb_all_known(struct walk *walk)
{
	struct position here = { walk->pc, walk->sp, walk->fp };
	__u64 count = walk->sample.user_count, at, pc, sp;

	for (int i = 0; i < KNOWN_STEPS && count < SAMPLE_FRAMES_MAX; i++) {
		pc = here.pc;
		sp = here.sp;
		if (climb_known(walk, &here))
			break;
		walk->below = sp;
		walk->was_innermost = 0;
		at = walk->sample.kernel_count + count++;
		BOUND(at, FRAMES_MASK);
		walk->frames[at] = pc;
		walk->was_guided = 0;
	}
	walk->pc = here.pc;
	walk->sp = here.sp;
	walk->fp = here.fp;
	walk->sample.user_count = count;
}

ALWAYS_INLINE long go_on_at(struct walk *walk, __u64 sp)
{
	walk->seeking = walk->unknown = 0;
	walk->sample.flags |= SAMPLE_GUESSED;
	walk->sample.end = STACK_CUT;
	walk->pc = walk->doubted_ra;
	walk->sp = sp;
	walk->fp = walk->doubted_fp;
	walk->is_exact = walk->is_innermost = walk->was_guided = walk->is_sp_lost = 0;
	walk->was_innermost = 0;
	walk->below = ~0ull;
	return STEP_ON;
}

/* A word a step.  Of several calls that return there the innermost is found: its callers are those
 * of the others, too.  Where calls do not push, its frame ends somewhere behind that word: all ends
 * that can be are tried, one after the other. */
ALWAYS_INLINE long seek(struct climb *climb)
{
	struct walk *walk = climb->walk;
	__u64 at = walk->seeking, word;

	if (at - walk->doubted_sp >= DOUBT_REACH || read_word(climb, at, &word))
		return STEP_END;
	walk->seeking = at + 8;
	if (CODE_ADDRESS(word) != walk->doubted_ra)
		return STEP_ON;
	at += 8;
	if (!RETURN_ON_STACK) {
		at = (at + 15) & ~15ull;
		walk->tried_sp = at;
	}
	go_on_at(walk, at);
	if (RETURN_ON_STACK)
		walk->doubted_ra = 0;
	return STEP_ON;
}

static long walk_step(__u32 number, struct climb *climb)
{
	struct walk *walk = climb->walk;

	if (walk->seeking)
		return seek(climb);
	if (!walk->is_exact && !walk->is_sp_lost)
		climb_all_known(walk);
	if (climb_one(climb) == STEP_ON)
		return STEP_ON;
	if (!walk->doubted_ra || walk->sample.end == STACK_COMPLETE)
		return STEP_END;
	walk->sample.user_count = walk->doubted_count;
	if (!RETURN_ON_STACK && walk->tried_sp) {
		walk->tried_sp += 16;
		return walk->tried_sp - walk->doubted_sp < DOUBT_REACH
			       ? go_on_at(walk, walk->tried_sp)
			       : STEP_END;
	}
	walk->seeking = walk->doubted_sp;
	return STEP_ON;
}

/* From walk->registers up. */
ALWAYS_INLINE void walk_up(struct walk *walk, struct task_struct *task,
			   const struct kernel_process *process)
{
	struct climb climb = { walk, task };
	/* One read, so that they belong together. */
	__u64 part = *(const volatile __u64 *)process;

	walk->first_range = (__u16)part;
	walk->range_count = (__u16)(part >> 16);
	walk->generation = part >> 32;
	walk->start_stack = process->start_stack;
	walk->pc = REGISTERS_PC(&walk->registers);
	walk->sp = REGISTERS_SP(&walk->registers);
	walk->fp = REGISTERS_FP(&walk->registers);
	walk->lr = REGISTERS_LR(&walk->registers);
	walk->go = register_by_number(walk, GO_REGISTER_G);
	walk->is_exact = 1;
	walk->is_innermost = 1;
	walk->was_innermost = 0;
	walk->below = 0;
	walk->was_guided = 0;
	walk->is_sp_lost = 0;
	walk->signals = 0;
	walk->luajit_count = 0;
	walk->doubted_ra = 0;
	walk->tried_sp = 0;
	walk->seeking = 0;
	walk->unknown = 0;
	walk->chunk_size = 0;
	walk->range.end = 0;
	walk->sample.end = STACK_CUT;
	walk->sample.user_count = 0;
	bpf_loop(SAMPLE_FRAMES_MAX + 1, walk_step, &climb, 0);
}

/* What a thread had in its registers when it entered the kernel. */
ALWAYS_INLINE int take_saved_registers(struct walk *walk, struct task_struct *task)
{
	return bpf_probe_read_kernel(&walk->registers, sizeof(walk->registers),
				     (void *)bpf_task_pt_regs(task));
}

ALWAYS_INLINE __u64 record_size(const struct walk *walk)
{
	__u64 frames = walk->sample.kernel_count + walk->sample.user_count;

	BOUND(frames, FRAMES_MASK);
	return sizeof(struct sample) + frames * sizeof(__u64);
}

/* Registers and stack as they are, for the host to walk. */
ALWAYS_INLINE void take_raw(struct walk *walk)
{
	__u64 at = walk->sample.kernel_count * sizeof(__u64);
	__u64 address = REGISTERS_SP(&walk->registers) & ~7ull;
	__u8 *bytes = (__u8 *)walk->frames;
	__u32 size;

	BOUND(at, 1023);
	*(struct pt_regs *)(bytes + at) = walk->registers;
	at += sizeof(struct pt_regs);
	for (int i = 0; i < KERNEL_RAW_PAGES; i++) {
		size = PAGE_SIZE - (address & (PAGE_SIZE - 1));
		if (at > sizeof(walk->frames) - PAGE_SIZE ||
		    bpf_probe_read_user(bytes + at, size, (void *)address))
			break;
		at += size;
		address += size;
	}
	walk->sample.flags |= KERNEL_RAW;
	walk->sample.user_count = at / sizeof(__u64) - walk->sample.kernel_count;
}
