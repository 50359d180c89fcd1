/*
 * Makes entries.
 *
 * Known ends of stacks: only a walk that reaches one is complete.
 *
 *   what                                              how it is known
 *   the outermost frame by its unwind rule            ra is undefined there: UNWIND_END of rows.c;
 *   (_start, clone and start_thread of glibc)         or it is set to 0 by instructions (aarch64)
 *   the entry point of a file (_start)                e_entry of its header
 *   the stack on which the kernel began the program   a caller of 0, and sp is where its arguments
 *   (musl on aarch64 jumps from _start)               lie: start_stack of its memory
 *   a thread's first function without rules (musl)    the code behind the call ends the thread:
 *                                                     THREAD_END of shared/arch/signal_frame.h
 *   a coroutine's base                                its name: known_ends[], or, in glibc, its
 *                                                     instructions: shapes[]
 *   a goroutine's base, a thread of Go's scheduler    its name: known_ends[]
 */
#include "host/unwind/tables/entries.h"

#include <errno.h>
#include <string.h>

#include "host/core/room.h"
#include "host/unwind/tables/image.h"

/* For a _start without rules (that of large models is long); up to the next entry at most. */
#define ENTRY_SIZE 96u
#define ENDS_MAX   64u /* by name, in one file */
/* Up to two instructions, a hlt (x86-64), and the byte before, where the call would be. */
#define TAIL_SIZE   10u
#define MARK_SIZE   4u /* of an instruction that may be first: a landing pad */
#define SHAPE_SIZE  26u
#define STUB        16u
#define SHORT_STUB  8u
#define NO_OFFSET   UINT64_MAX /* of no CIE in the section */
#define ENCODING    DWARF_ABSOLUTE
#define RA_REGISTER 16

static const struct known_end known_ends[] = {
	/* Boost.Context: a coroutine's function returns to the last instructions, which exit. */
	{ "make_fcontext", END_TAIL },
	{ "__start_context", END_RETURNED },
	{ "__startcontext", END_RETURNED },
	/* Go.  mcall never returns to the goroutine: it calls the scheduler, on the thread's own
	 * stack. */
	{ "runtime.goexit", END_WHOLE },
	{ "runtime.goexit.abi0", END_WHOLE },
	{ "runtime.mstart", END_WHOLE },
	{ "runtime.mstart.abi0", END_WHOLE },
	{ "runtime.rt0_go", END_WHOLE },
	{ "runtime.rt0_go.abi0", END_WHOLE },
	{ "runtime.mcall", END_SWITCHED },
	/* The same where a goroutine is descheduled: these do not return. */
	{ "runtime.gopreempt_m", END_WHOLE },
	{ "runtime.preemptPark", END_WHOLE },
};

const struct known_end *known_end_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_ends); i++)
		if (!strcmp(known_ends[i].name, name))
			return &known_ends[i];
	return NULL;
}

struct code_shape {
	unsigned machine, size;
	unsigned char bytes[SHAPE_SIZE], mask[SHAPE_SIZE];
};

#define ANY  0x00
#define SAME 0xff

static const struct code_shape shapes[] = {
	/* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je 1f; call setcontext;
	 * mov %rax, %rdi; 1: call exit; hlt */
	{
		.machine = EM_X86_64,
		.size = 26,
		.bytes = { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85,
			   0xff, 0x74, 0x08, 0xe8, 0,    0,    0,    0,    0x48,
			   0x89, 0xc7, 0xe8, 0,    0,    0,    0,    0xf4 },
		.mask = { SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME, SAME,
			  SAME, SAME, SAME, SAME, ANY,  ANY,  ANY,  ANY,  SAME,
			  SAME, SAME, SAME, ANY,  ANY,  ANY,  ANY,  SAME },
	},
	/* mov x0, x19; cbnz x0, setcontext; b exit */
	{
		.machine = EM_AARCH64,
		.size = 12,
		.bytes = { 0xe0, 0x03, 0x13, 0xaa, 0, 0, 0, 0xb5, 0, 0, 0, 0x14 },
		.mask = { SAME, SAME, SAME, SAME, 0x1f, ANY, ANY, SAME, ANY, ANY, ANY, 0xfc },
	},
};

static const unsigned char marks[][MARK_SIZE] = {
	{ 0xf3, 0x0f, 0x1e, 0xfa }, /* endbr64 */
	{ 0x5f, 0x24, 0x03, 0xd5 }, /* bti c */
	{ 0x1f, 0x20, 0x03, 0xd5 }, /* nop, in its place */
};

static bool is_mark(const unsigned char *bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (!memcmp(bytes, marks[i], MARK_SIZE))
			return true;
	return false;
}

static bool has_shape(const unsigned char *bytes, const struct code_shape *shape)
{
	for (unsigned i = 0; i < shape->size; i++)
		if ((bytes[i] & shape->mask[i]) != shape->bytes[i])
			return false;
	return true;
}

/* True when the entry covers exactly this code. */
static bool is_context_end(const struct frame_entry *entry, const struct object *object,
			   const struct code_shape *shape)
{
	uint64_t size = entry->end - entry->start;
	bool is_marked = size == shape->size + MARK_SIZE;
	struct object_part code;

	if (entry->kind != ENTRY_PROGRAM || (!is_marked && size != shape->size) ||
	    object_at(object, entry->start, &code) < 0 || code.size < size)
		return false;
	return is_marked ? is_mark(code.bytes) && has_shape(code.bytes + MARK_SIZE, shape)
			 : has_shape(code.bytes, shape);
}

/* Makes one entry an end; its call is looked up at the byte before its beginning, which is
 * included. */
static void context_end_mark(struct frame_entry *entry)
{
	entry->kind = ENTRY_END;
	entry->start -= entry->start > 0;
}

void context_ends_mark(struct frames *frames, const struct object *object)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		for (size_t j = 0;
		     shapes[i].machine == object->header.e_machine && j < frames->count; j++)
			if (is_context_end(&frames->entries[j], object, &shapes[i]))
				context_end_mark(&frames->entries[j]);
}

static int add_entry_point(struct frames *frames, const struct object *object)
{
	uint64_t start = object->header.e_entry;
	struct frame_entry entry = { .start = start, .kind = ENTRY_END };

	if (!start || start > UINT64_MAX - ENTRY_SIZE || frames_cover(frames, start))
		return 0;
	entry.end = start + ENTRY_SIZE;
	for (size_t i = 0; i < frames->count; i++)
		if (frames->entries[i].start > start)
			entry.end = MIN(entry.end, frames->entries[i].start);
	return frames_add_own(frames, &entry, 1);
}

static const char *name_of(const struct object_part *names, const Elf64_Sym *symbol)
{
	const char *name = (const char *)names->bytes + symbol->st_name;

	return symbol->st_name < names->size && memchr(name, '\0', names->size - symbol->st_name)
		       ? name
		       : "";
}

/* 1 if it is an end, else 0. */
static int add_symbol(struct frames *frames, const Elf64_Sym *symbol, const char *name)
{
	const struct known_end *known = known_end_find(name);
	struct frame_entry entry = { .start = symbol->st_value,
				     .end = symbol->st_value + symbol->st_size,
				     .kind = ENTRY_END };

	if (!known || known->extent == END_SWITCHED || entry.end <= entry.start)
		return 0;
	if (known->extent == END_RETURNED) {
		for (size_t i = 0; i < frames->count; i++)
			if (frames->entries[i].start == symbol->st_value)
				context_end_mark(&frames->entries[i]);
		return 1;
	}
	if (known->extent == END_TAIL)
		entry.start = MAX(entry.start, entry.end - MIN(entry.end, TAIL_SIZE));
	return frames_add_own(frames, &entry, 1) ? -ENOMEM : 1;
}

static int add_symbols(struct frames *frames, const struct object *object, const char *section,
		       const char *strings)
{
	struct object_part part, names;
	Elf64_Sym symbol;
	unsigned found = 0;
	int r = 0;

	if (object_section(object, section, &part) || object_section(object, strings, &names))
		return 0;
	for (uint64_t at = 0; found < ENDS_MAX && part.size - at >= sizeof(symbol);
	     at += sizeof(symbol)) {
		memcpy(&symbol, part.bytes + at, sizeof(symbol));
		if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
			continue;
		r = add_symbol(frames, &symbol, name_of(&names, &symbol));
		if (r < 0)
			return r;
		found += (unsigned)r;
	}
	return 0;
}

int ends_add(struct frames *frames, const struct object *object)
{
	int r = add_entry_point(frames, object);

	context_ends_mark(frames, object);
	if (!r)
		r = add_symbols(frames, object, ".dynsym", ".dynstr");
	return r ? r : add_symbols(frames, object, ".symtab", ".strtab");
}

/* On x86-64 the first stub pushes a word and jumps to the loader; each other one is
 *
 *	0  ff 25 ....  jmp *SLOT
 *	6  68 ....     push NUMBER
 *	11 e9 ....     jmp FIRST
 *
 * In a program that is linked statically there is no loader: stubs jump to functions of which the C
 * library has one for each kind of processor (memcpy), and no first one is there. */
static const unsigned char push_and_jump[] = { 0xff, 0x35 }, jump[] = { 0xff, 0x25 },
			   landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* CFA = rsp + 8, ra at CFA - 8. */
static const unsigned char common_program[] = { 0x0c, 7, 8, 0x90, 1 };
/* In the first stub CFA = rsp + 16, 6 bytes on rsp + 24; in the others the linker's expression. */
static const unsigned char entry_program[] = {
	0x0e, 16, 0x46, 0x0e, 24,   0x4a, 0x0f, 11,   0x77, 8,
	0x80, 0,  0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22,
};

static bool has_first(const struct object_part *part)
{
	return part->size >= 2 * STUB && part->address % STUB == 0 &&
	       !memcmp(part->bytes, push_and_jump, sizeof(push_and_jump)) &&
	       !memcmp(part->bytes + STUB, jump, sizeof(jump)) && part->bytes[STUB + 6] == 0x68 &&
	       part->bytes[STUB + 11] == 0xe9;
}

static bool are_jumps(const struct object_part *part, size_t step)
{
	if (part->size % step)
		return false;
	for (size_t at = 0; at < part->size; at += step) {
		const unsigned char *stub = part->bytes + at;

		if (step == STUB && !memcmp(stub, landing, sizeof(landing)))
			stub += sizeof(landing);
		if (memcmp(stub, jump, sizeof(jump)) != 0)
			return false;
	}
	return part->size > 0;
}

struct object_part stubs_find(const struct object *object)
{
	static const char *const names[] = { ".plt", ".iplt" };
	struct object_part part;

	/* GNU ld's have 8 bytes, or 16 with endbr64; lld's are as long as others. */
	for (size_t i = 0; object->header.e_machine == EM_X86_64 && i < ARRAY_SIZE(names); i++)
		if (object_section(object, names[i], &part) == 0 &&
		    (has_first(&part) || are_jumps(&part, SHORT_STUB) || are_jumps(&part, STUB)))
			return part;
	return (struct object_part){ 0 };
}

static struct dwarf_bytes program_of(const unsigned char *bytes, size_t size)
{
	return (struct dwarf_bytes){ .at = bytes, .end = bytes + size };
}

int stubs_add(struct frames *frames, const struct object_part *stubs)
{
	struct frame_entry entry = {
		.start = stubs->address,
		.end = stubs->address + stubs->size,
		.common = (uint32_t)frames->common_count,
	};
	bool is_lazy = stubs->size && has_first(stubs);
	int r;

	if (!stubs->size || entry.end < entry.start ||
	    frames_cover(frames, entry.start + (is_lazy ? STUB : 0)))
		return 0;
	entry.program = program_of(entry_program, is_lazy ? sizeof(entry_program) : 0);
	if (make_room(&frames->commons, frames->common_count, &frames->common_room,
		      sizeof(*frames->commons)) < 0)
		return -ENOMEM;
	frames->commons[frames->common_count++] = (struct frame_common){
		.offset = NO_OFFSET,
		.code_step = 1,
		.data_step = -8,
		.pointer_encoding = ENCODING,
		.return_register = RA_REGISTER,
		.program = program_of(common_program, sizeof(common_program)),
	};
	r = frames_append(frames, &entry, 1);
	frames_sort(frames);
	return r;
}

static int add_gap(struct frames *frames, uint64_t start, uint64_t end, unsigned step)
{
	start = ALIGN_UP(start, step);
	if (end <= start || end - start < step)
		return 0;
	return frames_append(
		frames, &(struct frame_entry){ .start = start, .end = end, .kind = ENTRY_GAP }, 1);
}

/* Between the first `count` entries, which ascend. */
static int add_gaps_of(struct frames *frames, size_t count, uint64_t start, uint64_t end,
		       unsigned step)
{
	int r = 0;

	for (size_t i = 0; !r && i < count; i++) {
		const struct frame_entry entry = frames->entries[i];

		if (entry.end <= start)
			continue;
		if (entry.start >= end)
			break;
		if (entry.start > start)
			r = add_gap(frames, start, entry.start, step);
		/* A signal handler's thread stands behind the trampoline while it is in its system
		 * call. */
		start = entry.end + (entry.kind == ENTRY_PROGRAM &&
				     frames->commons[entry.common].is_signal &&
				     entry.end < UINT64_MAX);
	}
	return r < 0 || start >= end ? r : add_gap(frames, start, end, step);
}

int gaps_add(struct frames *frames, const struct object *object, unsigned step)
{
	size_t count = frames->count;
	int r = 0;

	for (unsigned i = 0; !r && i < object->segment_count; i++) {
		const Elf64_Phdr *segment = &object->segments[i];
		uint64_t start, end;

		if (segment->p_filesz <= IMAGE_PART_MAX &&
		    object_code_of(object, segment, &start, &end) && end <= UINT64_MAX - step)
			r = add_gaps_of(frames, count, start, end, step);
	}
	frames_sort(frames);
	return r;
}
