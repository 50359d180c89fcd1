/*
 * Makes rows from the frame sizes in Go's table of functions.
 *
 * A frame of Go, from its CFA down:
 *
 *   x86-64    CFA - 8   return address            aarch64   CFA - size      return address (at sp)
 *             CFA - 16  the caller's rbp                    CFA - size - 8  the caller's x29
 */
#include "host/unwind/tables/go_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/unwind/arch/code.h"
#include "host/unwind/arch/go_code.h"
#include "host/unwind/tables/entries.h"

#define WORD 8
#define PAGE 4096 /* far more than is added to a size */

enum go_switch {
	SWITCH_NONE,  /* none is known by its name */
	SWITCH_GOBUF, /* after it has written sp */
	SWITCH_LOST,  /* the same, with an unknown target */
	SWITCH_CGO,   /* at its calls */
	SWITCH_BACK,  /* to the goroutine that called C, as if called where it switched */
};

static const struct {
	const char *name;
	enum go_switch kind;
} switches[] = {
	{ "runtime.systemstack", SWITCH_GOBUF },
	{ "runtime.morestack", SWITCH_GOBUF },
	{ "runtime.asmcgocall", SWITCH_CGO },
	{ "runtime.asmcgocall.abi0", SWITCH_CGO },
	{ "runtime.cgocallback", SWITCH_BACK },
	{ "runtime.cgocallback.abi0", SWITCH_BACK },
	{ "gogo", SWITCH_LOST },
	{ "runtime.gogo", SWITCH_LOST },
};

/* A signal handler makes these functions look called, from the very instruction that it has
 * interrupted; on machines with a link register it has pushed that before. */
static const char *const injected[] = { "runtime.asyncPreempt", "runtime.sigpanic",
					"runtime.sigpanic0", "runtime.debugCallV2" };
#define PUSHED 16u

struct function {
	const struct go_code *code;
	struct go_function facts;
	struct go_part bytes;
	struct rows *rows;
	uint64_t first;
	struct go_prologue prologue;
	bool is_injected;
	unsigned pushed; /* by the signal handler that injected it */
};

static struct go_part code_of(const struct go_code *code, const struct go_function *facts)
{
	struct object_part part;

	if (object_at(code->object, facts->start, &part) < 0)
		return (struct go_part){ 0 };
	return (struct go_part){ part.bytes, MIN(part.size, facts->end - facts->start) };
}

static bool find_section(const void *object, const char *name, struct go_part *ret,
			 uint64_t *ret_at)
{
	struct object_part part;

	if (object_section(object, name, &part))
		return false;
	*ret = (struct go_part){ part.bytes, part.size };
	*ret_at = part.address;
	return true;
}

bool go_code_open(struct go_code *ret, const struct object *object)
{
	const struct unwind_machine *machine = unwind_machine_of(object->header.e_machine);
	struct go_function function;
	struct go_part bytes;
	uint64_t at;

	if (!machine)
		return false;
	*ret = (struct go_code){ .object = object, .machine = machine->go };
	if (!gopclntab_open_in(&ret->table, find_section, object, &at))
		return false;
	for (uint64_t i = 0; i < ret->table.count; i++)
		if (gopclntab_function(&ret->table, i, &function) &&
		    !strcmp(function.name, "runtime.systemstack")) {
			bytes = code_of(ret, &function);
			ret->goroutine_at = ret->machine->find_goroutine(&bytes);
			break;
		}
	return true;
}

static bool is_injected(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(injected); i++)
		if (!strcmp(injected[i], name))
			return true;
	return false;
}

/* Reads at most as many values as there is code: a table may be wrong. */
static bool is_ours(const struct go_code *code, const struct go_function *facts)
{
	struct go_values frame = go_values_of(&code->table, facts, facts->frame_values);
	const struct go_part bytes = code_of(code, facts);
	struct go_prologue prologue;

	frame.limit = facts->start + bytes.size;
	if (known_end_find(facts->name) || is_injected(facts->name))
		return true;
	while (go_values_next(&frame))
		if (frame.value > 0)
			return code->machine->read_prologue(&bytes, frame.start - facts->start,
							    &prologue);
	return frame.has_begun;
}

int go_code_add(const struct go_code *code, struct frames *frames)
{
	CLEANUP(free) struct frame_entry *own = NULL;
	size_t count = 0, room = 0;
	uint64_t reached = 0;

	for (uint64_t i = 0; i < code->table.count; i++) {
		struct go_function facts;

		if (!gopclntab_function(&code->table, i, &facts) || facts.start < reached)
			continue;
		reached = facts.end;
		if (!is_ours(code, &facts))
			continue;
		if (make_room(&own, count, &room, sizeof(*own)))
			return -ENOMEM;
		own[count++] = (struct frame_entry){ .start = facts.start,
						     .end = facts.end,
						     .kind = ENTRY_GO,
						     .common = (uint32_t)i };
	}
	return frames_add_own(frames, own, count);
}

static int add_row(struct function *self, uint64_t address, struct unwind_row row)
{
	return rows_add(self->rows, (uint32_t)(address - self->first), row);
}

static int add_kind(struct function *self, uint64_t address, unsigned kind)
{
	return rows_add_kind(self->rows, (uint32_t)(address - self->first), kind);
}

/* Frames too large for a row. */
static int add_large(struct function *self, uint64_t address, int64_t size, bool has_fp)
{
	bool is_pushed = self->rows->machine->is_ra_pushed;
	__u8 saved = is_pushed ? UNWIND_SAVED_AT_CFA : UNWIND_SAVED_AT_SP;
	const struct unwind_special special = {
		.base = UNWIND_BASE_SP,
		.offset = (__s32)size,
		.fp_saved = has_fp ? saved : UNWIND_SAVED_NOT,
		.fp_offset = !has_fp     ? 0
			     : is_pushed ? -2 * WORD
					 : -WORD,
		.ra_saved = saved,
		.ra_offset = is_pushed ? -WORD : 0,
	};

	return rows_add_special(self->rows, (uint32_t)(address - self->first), &special);
}

/* Calls push the return address. */
static int add_pushed(struct function *self, uint64_t address, int64_t size, bool has_fp)
{
	int64_t words = size / WORD + 1;

	if (words > UINT16_MAX)
		return add_large(self, address, size + WORD, has_fp);
	return add_row(
		self, address,
		(struct unwind_row){ .cfa = (__u16)words,
				     .fp = has_fp ? -2 : UNWIND_FP_SAME,
				     .kind = self->is_injected ? UNWIND_GO_PUSHED : UNWIND_SP });
}

/* Its return address is at sp, and the caller's fp one word below. */
static int add_linked(struct function *self, uint64_t address, int64_t size, bool has_fp)
{
	int64_t words = (size + self->pushed) / WORD;
	struct unwind_row row = { .cfa = (__u16)words,
				  .fp = UNWIND_FP_SAME,
				  .kind = self->pushed ? UNWIND_GO_PUSHED : UNWIND_SP };

	if (!size) {
		row.kind |= UNWIND_RA_IN_REGISTER;
		return add_row(self, address, row);
	}
	if (words >= INT8_MAX && self->pushed)
		return add_kind(self, address, UNWIND_BAD);
	if (words >= INT8_MAX)
		return add_large(self, address, size, has_fp);
	row.fp = (__s8)(has_fp ? -words - 1 : -words);
	row.kind |= has_fp ? 0 : UNWIND_RA_ALONE;
	return add_row(self, address, row);
}

static int add_frame(struct function *self, uint64_t address, int64_t size, bool has_fp)
{
	if (size < 0 || size % WORD || size > INT32_MAX - PAGE)
		return add_kind(self, address, UNWIND_BAD);
	return (self->rows->machine->is_ra_pushed ? add_pushed : add_linked)(self, address, size,
									     has_fp && size);
}

static struct go_values frames_of(const struct function *self)
{
	return go_values_of(&self->code->table, &self->facts, self->facts.frame_values);
}

/* For all code from this address on. */
static int add_frames(struct function *self, uint64_t from)
{
	struct go_values frame = frames_of(self);
	uint64_t saved = self->facts.start + self->prologue.fp_saved;
	int r = 0;

	while (!r && go_values_next(&frame)) {
		uint64_t start = MAX(frame.start, from);
		bool has_fp = self->prologue.fp_saved && start >= saved;

		if (frame.end <= from)
			continue;
		r = add_frame(self, start, frame.value, has_fp);
		if (!r && !has_fp && self->prologue.fp_saved && frame.end > saved)
			r = add_frame(self, saved, frame.value, true);
	}
	return r;
}

static int64_t largest_frame(const struct function *self)
{
	struct go_values frame = frames_of(self);
	int64_t largest = 0;

	while (go_values_next(&frame))
		largest = MAX(largest, frame.value);
	return largest;
}

/* Code from here to `end` has this row. */
static int add_piece(struct function *self, uint64_t start, uint64_t end, struct unwind_row row)
{
	int r = add_row(self, self->facts.start + start, row);

	if (!r && end < self->bytes.size)
		r = add_frames(self, self->facts.start + end);
	return r;
}

/* From the first switch of stacks on, up to the switch back. */
static int add_switched(struct function *self, struct unwind_row row)
{
	uint64_t start = self->code->machine->find_switch(&self->bytes, 0);
	uint64_t end = self->code->machine->find_switch(&self->bytes, start);

	return start ? add_piece(self, start, end ? end : self->bytes.size, row) : 0;
}

/* fp leads to its frame while it runs on another stack. */
static int add_by_fp(struct function *self)
{
	bool is_pushed = self->rows->machine->is_ra_pushed;
	int64_t words = is_pushed ? 2 : largest_frame(self) / WORD + 1;
	const struct unwind_row row = { .cfa = (__u16)words,
					.fp = (__s8)-words,
					.kind = UNWIND_GO_FP };

	return !self->prologue.fp_saved || words >= INT8_MAX ? 0 : add_switched(self, row);
}

static int add_gobuf(struct function *self, unsigned goroutine_at)
{
	return add_switched(self, (struct unwind_row){ .cfa = (__u16)(goroutine_at / WORD),
						       .fp = UNWIND_FP_SAME,
						       .kind = UNWIND_GO_GOBUF });
}

/* The stack is another one only within its calls, which is where a walk can find it. */
static int add_cgo(struct function *self)
{
	int64_t size = largest_frame(self) / WORD;
	struct go_call call = { 0 };
	int r = 0;

	while (!r && size <= UINT8_MAX && self->code->machine->find_call(&self->bytes, &call)) {
		const struct unwind_row row = { .cfa = (__u16)(call.kept / WORD | size << 8),
						.fp = UNWIND_FP_SAME,
						.kind = UNWIND_GO_CGO };

		r = add_piece(self, call.start, call.end, row);
	}
	return r;
}

/* From C it switches to the stack that Go left for C, and makes a frame of its own size there,
 * whose return address is where that goroutine stands.  The frame on the thread's own stack, from
 * which it switched, has the same size: its caller is C.  On aarch64 the walk continues on the
 * goroutine's stack, where the frame is like any other, and omits what C called. */
static int add_back(struct function *self)
{
	const struct unwind_row row = { .cfa = (__u16)(largest_frame(self) / WORD + 1),
					.fp = self->prologue.fp_saved ? -2 : UNWIND_FP_SAME,
					.kind = UNWIND_GO_CALLED_BACK };

	if (!self->rows->machine->is_ra_pushed)
		return 0;
	if (!self->code->machine->find_switch(&self->bytes, 0) ||
	    largest_frame(self) / WORD >= UINT16_MAX)
		return add_kind(self, self->facts.start, UNWIND_BAD);
	return add_switched(self, row);
}

static int add_end(struct function *self, const struct known_end *known)
{
	uint64_t start = 0;

	if (known->extent == END_SWITCHED) {
		start = self->code->machine->find_switch(&self->bytes, 0);
		if (!start)
			return 0;
	}
	return add_kind(self, self->facts.start + start, UNWIND_END);
}

static enum go_switch switch_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
		if (!strcmp(switches[i].name, name))
			return switches[i].kind;
	return SWITCH_NONE;
}

static void read_prologue(struct function *self)
{
	struct go_values frame = frames_of(self);

	while (go_values_next(&frame)) {
		if (frame.value <= 0)
			continue;
		if (!self->code->machine->read_prologue(
			    &self->bytes, frame.start - self->facts.start, &self->prologue) &&
		    !is_injected(self->facts.name))
			self->prologue = (struct go_prologue){ 0 };
		return;
	}
}

static int function_compile(struct function *self)
{
	const struct known_end *end = known_end_find(self->facts.name);
	enum go_switch kind = switch_of(self->facts.name);
	uint64_t begin = 0;
	int r;

	if (self->bytes.size >= sizeof(begin))
		memcpy(&begin, self->bytes.bytes, sizeof(begin));
	/* A handler returns to its first byte, and callers are looked up one byte before. */
	if (begin == self->code->machine->trampoline)
		return add_kind(self, MAX(self->facts.start - 1, self->first), UNWIND_SIGNAL);
	read_prologue(self);
	self->is_injected = is_injected(self->facts.name);
	if (self->is_injected && !self->rows->machine->is_ra_pushed)
		self->pushed = PUSHED;
	r = add_kind(self, self->facts.start, UNWIND_NONE);
	if (!r)
		r = add_frames(self, self->facts.start);
	if (!r && kind == SWITCH_NONE && !end && self->facts.flags & GO_WRITES_SP)
		r = add_by_fp(self);
	if (!r && end)
		r = add_end(self, end);
	if (r)
		return r;
	switch (kind) {
	case SWITCH_GOBUF:
		return add_gobuf(self, self->code->goroutine_at);
	case SWITCH_LOST:
		return add_gobuf(self, 0);
	case SWITCH_CGO:
		return add_cgo(self);
	case SWITCH_BACK:
		return add_back(self);
	default:
		return 0;
	}
}

int go_code_compile(const struct go_code *code, uint32_t number, uint64_t first, struct rows *rows)
{
	struct function self = {
		.code = code,
		.rows = rows,
		.first = first,
	};

	if (!gopclntab_function(&code->table, number, &self.facts))
		return 0;
	self.bytes = code_of(code, &self.facts);
	self.facts.end = self.facts.start + self.bytes.size;
	return function_compile(&self);
}
