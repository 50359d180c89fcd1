/*
 * Where functions begin in code without names: by the entries of .eh_frame, that no strip removes,
 * and as targets of direct calls, which are read in pieces.  Bytes are foreign: possible calls out
 * of the code are skipped.
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/symbols/elf/elf_symbols.h"
#include "host/unwind/arch/code.h"
#include "shared/arch/elf.h"

#define CODE_MAX    ((uint64_t)512 << 20) /* from the first to the last address */
#define PIECE_BYTES ((size_t)1 << 20)
#define MARGIN      16u /* no instruction is longer */

struct code {
	uint64_t start, end;
};

/* The section with code at the address; segments may contain data, too.  The last one found is
 * tried first. */
static bool find_code(Elf *elf, uint64_t address, struct code *code)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	if (address - code->start < code->end - code->start)
		return true;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &head) && head.sh_flags & SHF_EXECINSTR &&
		    address - head.sh_addr < head.sh_size) {
			*code = (struct code){ head.sh_addr, head.sh_addr + head.sh_size };
			return true;
		}
	return false;
}

static int add_entries(Elf *elf, const struct frames *frames, struct symbol_table *table)
{
	struct code code = { 0 };
	int r = 0;

	for (size_t i = 0; !r && i < frames->count; i++) {
		const struct frame_entry *entry = &frames->entries[i];

		if (find_code(elf, entry->start, &code))
			r = symbol_table_add(table,
					     &(struct symbol){ .address = entry->start,
							       .end = MIN(entry->end, code.end),
							       .limit = code.end,
							       .name = "",
							       .has_size = true });
	}
	return r;
}

int elf_starts_add(Elf *elf, struct symbol_table *table)
{
	struct frames frames;
	struct elf_part part;
	int r;

	if (!elf_section_part(elf, ".eh_frame", &part))
		return 0;
	r = frames_read(
		&frames,
		&(struct object_part){ part.bytes, part.size, part.address, .has_size = true },
		FRAMES_EH);
	if (r)
		return r;
	r = add_entries(elf, &frames, table);
	frames_done(&frames);
	return r;
}

struct called {
	uint64_t first, end;
	unsigned char *bits; /* one for each address from the first on, where a call leads */
};

static void called_done_at_scope_end(struct called *called)
{
	free(called->bits);
}

static void call_add(void *context, uint64_t target)
{
	struct called *called = context;
	uint64_t number = target - called->first;

	if (target >= called->first && target < called->end)
		called->bits[number / 8] |= (unsigned char)(1 << number % 8);
}

/* The next section with code that is in the file; NULL: none. */
static Elf_Scn *next_code(Elf *elf, Elf_Scn *section, GElf_Shdr *ret)
{
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, ret) && ret->sh_type == SHT_PROGBITS &&
		    ret->sh_flags & SHF_EXECINSTR && ret->sh_size <= CODE_MAX &&
		    ret->sh_addr <= UINT64_MAX - ret->sh_size)
			return section;
	return NULL;
}

static int called_init(struct called *called, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	*called = (struct called){ .first = UINT64_MAX };
	while ((section = next_code(elf, section, &head))) {
		called->first = MIN(called->first, head.sh_addr);
		called->end = MAX(called->end, head.sh_addr + head.sh_size);
	}
	if (called->end <= called->first)
		return 0;
	if (called->end - called->first > CODE_MAX)
		return -EFBIG;
	called->bits = calloc(1, (called->end - called->first) / 8 + 1);
	return called->bits ? 0 : -ENOMEM;
}

/* Pieces overlap by the bytes not yet decoded. */
static void read_section(int fd, const GElf_Shdr *head, unsigned char *bytes, struct called *called)
{
	const struct code_reader *code = unwind_machine_of(ARCH_ELF_MACHINE)->code;
	uint64_t at = 0;

	while (at < head->sh_size) {
		size_t size = MIN(head->sh_size - at, PIECE_BYTES), done;
		ssize_t got = pread(fd, bytes, size, (off_t)(head->sh_offset + at));
		struct object_part piece = { .bytes = bytes, .address = head->sh_addr + at };

		if (got <= 0)
			return;
		piece.size = (uint64_t)got;
		done = code->each_call(&piece, piece.size == PIECE_BYTES ? MARGIN : 0, call_add,
				       called);
		if (!done)
			return;
		at += done;
	}
}

static int add_begins(Elf *elf, const struct called *called, struct symbol_table *table)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	int r = 0;

	while (!r && (section = next_code(elf, section, &head)))
		for (uint64_t at = 0; !r && at < head.sh_size; at++) {
			uint64_t address = head.sh_addr + at, number = address - called->first;

			if (called->bits[number / 8] >> number % 8 & 1)
				r = symbol_table_add(
					table,
					&(struct symbol){ .address = address,
							  .end = address,
							  .limit = head.sh_addr + head.sh_size,
							  .name = "" });
		}
	return r;
}

int elf_calls_add(const struct elf_source *source, struct symbol_table *table)
{
	CLEANUP(called_done) struct called called;
	unsigned char *bytes = NULL;
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	int r = called_init(&called, source->elf);

	if (r || !called.bits || source->fd <= 0)
		return r;
	bytes = malloc(PIECE_BYTES);
	if (!bytes)
		return -ENOMEM;
	while ((section = next_code(source->elf, section, &head)))
		read_section(source->fd, &head, bytes, &called);
	free(bytes);
	return add_begins(source->elf, &called, table);
}
