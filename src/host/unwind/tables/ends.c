/*
 * Finds the ends of stacks.
 */
#include "host/unwind/tables/ends.h"

#include <errno.h>
#include <string.h>

#include "host/core/room.h"
#include "host/unwind/tables/context_ends.h"

/* For a _start without rules (that of large models is long); up to the next entry at most. */
#define ENTRY_SIZE 96u
#define ENDS_MAX   64u /* by name, in one file */
/* Up to two instructions, a hlt (x86-64), and the byte before, where the call would be. */
#define TAIL_SIZE 10u

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

static bool is_covered(const struct frames *frames, uint64_t address)
{
	for (size_t i = 0; i < frames->count; i++)
		if (address >= frames->entries[i].start && address < frames->entries[i].end)
			return true;
	return false;
}

static uint64_t next_start(const struct frames *frames, uint64_t address, uint64_t limit)
{
	for (size_t i = 0; i < frames->count; i++)
		if (frames->entries[i].start > address)
			limit = MIN(limit, frames->entries[i].start);
	return limit;
}

static int add_entry_point(struct frames *frames, const struct object *object)
{
	uint64_t start = object->header.e_entry;
	struct frame_entry entry = { .start = start, .kind = ENTRY_END };

	if (!start || start > UINT64_MAX - ENTRY_SIZE || is_covered(frames, start))
		return 0;
	entry.end = next_start(frames, start, start + ENTRY_SIZE);
	return frames_add_own(frames, &entry, 1);
}

static const char *name_of(const struct object_part *names, const Elf64_Sym *symbol)
{
	const char *name = (const char *)names->bytes + symbol->st_name;

	return symbol->st_name < names->size && memchr(name, '\0', names->size - symbol->st_name)
		       ? name
		       : "";
}

static int mark_returned(struct frames *frames, uint64_t start)
{
	for (size_t i = 0; i < frames->count; i++)
		if (frames->entries[i].start == start)
			context_end_mark(&frames->entries[i]);
	return 1;
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
	if (known->extent == END_RETURNED)
		return mark_returned(frames, symbol->st_value);
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
