/*
 * Uses libdw.  Units are found by a sorted list of their ranges, made once: not all compilers write
 * .debug_aranges.
 */
#include "host/symbols/lines.h"

#include "host/core/clock.h"
#include "host/core/notes.h"
#include "host/core/room.h"
#include "host/core/self/address_space.h"
#include "host/core/sorted.h"
#include "host/process/foreign_file.h"
#include "host/symbols/elf/elf_limits.h"
#include "host/symbols/elf/elf_source.h"
#include "host/symbols/unit_functions.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limits against hostile debug information, which could keep limpet busy for ever, or make libdw
 * allocate without end.  Large programs have a hundred thousand units, and line programs of a few
 * MiB. */
#define SCOPES_MAX       256
#define UNITS_MAX        (1u << 20)
#define RANGES_MAX       (16u << 20)
#define FUNCTIONS_MAX    (4u << 20)
#define LINE_PROGRAM_MAX ((uint64_t)16 << 20)
#define SEARCH_NS        2000000000u
#define SEARCH_STEP      1024u /* entries between checks of the clock */
/* libdw aborts when it gets no memory.  It is used only while there is this much, and this multiple
 * of what it will read. */
#define ROOM_LEAST        ((uint64_t)48 << 20)
#define ROOM_FOR_SECTIONS 2u
#define NOT_MAPPED_MAX    (ELF_DEBUG_MAX + ELF_SYMBOLS_MAX + ELF_STRINGS_MAX)
#define ROOM_FOR_PROGRAM  128u

struct unit {
	Dwarf_Off die;
	struct unit_functions functions;
	bool is_read;
};

struct unit_range {
	uint64_t begin, end;
	size_t unit;
};

struct lines {
	Dwarf *dwarf;
	struct unit *units;
	size_t unit_count, unit_room;
	size_t functions; /* of all units that were read */
	struct unit_range *ranges;
	size_t count, room;
	size_t looked;            /* at ranges, empty ones too */
	struct elf_part programs; /* .debug_line */
};

static int by_begin(const void *left, const void *right)
{
	const struct unit_range *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static bool add_ranges(struct lines *self, Dwarf_Die *unit)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0) {
		if (++self->looked > RANGES_MAX ||
		    make_room(&self->ranges, self->count, &self->room, sizeof(*self->ranges)))
			return false;
		if (begin < end)
			self->ranges[self->count++] =
				(struct unit_range){ begin, end, self->unit_count };
	}
	return true;
}

static bool read_units(struct lines *self)
{
	Dwarf_CU *unit = NULL;
	size_t units = 0;
	Dwarf_Die die;
	uint8_t type;

	while (units++ < UNITS_MAX &&
	       !dwarf_get_units(self->dwarf, unit, &unit, NULL, &type, &die, NULL)) {
		/* A skeleton has the ranges and the lines of a unit whose entries are elsewhere. */
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (make_room(&self->units, self->unit_count, &self->unit_room,
			      sizeof(*self->units)) ||
		    !add_ranges(self, &die))
			return false;
		self->units[self->unit_count++] = (struct unit){ .die = dwarf_dieoffset(&die) };
	}
	if (self->count)
		qsort(self->ranges, self->count, sizeof(*self->ranges), by_begin);
	return self->count > 0;
}

static void close_lines(struct lines *lines)
{
	if (!lines)
		return;
	if (lines->dwarf)
		dwarf_end(lines->dwarf);
	for (size_t i = 0; i < lines->unit_count; i++)
		unit_functions_done(&lines->units[i].functions);
	free(lines->units);
	free(lines->ranges);
	free(lines);
}

static bool has_room(uint64_t bytes, unsigned times)
{
	uint64_t left = address_space_left();

	if (left >= ROOM_LEAST && (left - ROOM_LEAST) / times >= bytes)
		return true;
	note_add("some frames have names but no lines: there is too little memory (ulimit -v)");
	return false;
}

/* Of sections not mapped at run time, uncompressed. */
static uint64_t debug_bytes(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t sum = 0;
	GElf_Shdr head;
	GElf_Chdr packed;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &head) && head.sh_type != SHT_NOBITS &&
		    !(head.sh_flags & SHF_ALLOC) &&
		    __builtin_add_overflow(
			    sum, gelf_getchdr(section, &packed) ? packed.ch_size : head.sh_size,
			    &sum))
			return UINT64_MAX;
	return sum;
}

/* By the sizes that libelf has read, even if the file has changed since its check. */
static bool may_unpack(Elf *elf)
{
	uint64_t bytes = debug_bytes(elf);

	return bytes <= NOT_MAPPED_MAX && has_room(bytes, ROOM_FOR_SECTIONS);
}

static struct lines *open_lines(Elf *elf)
{
	struct lines *self = may_unpack(elf) ? calloc(1, sizeof(*self)) : NULL;

	if (!self)
		return NULL;
	self->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	/* libdw has unpacked it. */
	if (!elf_section_part(elf, ".debug_line", &self->programs) &&
	    !elf_section_part(elf, ".zdebug_line", &self->programs))
		self->programs.size = 0;
	if (self->dwarf && read_units(self))
		return self;
	close_lines(self);
	return NULL;
}

static uint64_t begin_at(const void *ranges, size_t index)
{
	return ((const struct unit_range *)ranges)[index].begin;
}

static struct unit *find_unit(const struct lines *self, uint64_t address, Dwarf_Die *ret)
{
	size_t count = count_up_to(self->ranges, self->count, address, begin_at);
	const struct unit_range *last = count ? &self->ranges[count - 1] : NULL;
	struct unit *unit = last && address < last->end ? &self->units[last->unit] : NULL;

	return unit && dwarf_offdie(self->dwarf, unit->die, ret) ? unit : NULL;
}

/* The entries of a unit; those of a split one are in its .dwo, which libdw opens here. */
static Dwarf_Die unit_entries(const Dwarf_Die *unit)
{
	Dwarf_Die split = { 0 };
	uint8_t type = 0;

	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) ||
	    type != DW_UT_skeleton)
		return *unit;
	if (split.cu)
		return split;
	note_add("some inlined functions are not told: .dwo files of split debug information were "
		 "not found, and .dwp files are not read");
	return *unit;
}

/* The linkage name is better than the source's: it has the namespaces. */
static const char *function_name(Dwarf_Die *die)
{
	static const unsigned names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name };
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *name =
			dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));

		if (name)
			return name;
	}
	return NULL;
}

static unsigned number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attribute) && !dwarf_formudata(&attribute, &value)
		       ? (unsigned)value
		       : 0;
}

/* libdw makes a row in memory of nearly every byte of a line program. */
static bool is_program_short(const struct elf_part *programs, uint64_t at)
{
	uint64_t length = 0;

	if (at > programs->size || programs->size - at < 12)
		return false;
	memcpy(&length, programs->bytes + at, sizeof(uint32_t));
	if (length == UINT32_MAX)
		memcpy(&length, programs->bytes + at + sizeof(uint32_t), sizeof(length));
	return length <= LINE_PROGRAM_MAX && has_room(length, ROOM_FOR_PROGRAM);
}

static bool has_rows(const struct lines *self, Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	Dwarf_Word at;

	return dwarf_attr(unit, DW_AT_stmt_list, &attribute) && !dwarf_formudata(&attribute, &at) &&
	       is_program_short(&self->programs, at);
}

/* The files that entries name.  A split unit has its own table or that of its skeleton. */
static bool has_files(const struct lines *self, const Dwarf_Die *entries, Dwarf_Die *skeleton)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(entries->cu);
	struct elf_part part;

	if (dwarf != self->dwarf && elf_section_part(dwarf_getelf(dwarf), ".debug_line.dwo", &part))
		return is_program_short(&part, 0);
	return has_rows(self, skeleton);
}

/* libdw's name for an unknown file: number 0 before DWARF 5. */
#define FILE_UNKNOWN "???"

static const char *file_of(Dwarf_Die *unit, unsigned number)
{
	const char *file = NULL;
	Dwarf_Files *files;
	size_t count;

	if (!dwarf_getsrcfiles(unit, &files, &count) && number < count)
		file = dwarf_filesrc(files, number, NULL, NULL);
	return file && strcmp(file, FILE_UNKNOWN) != 0 ? file : NULL;
}

/* Where an inlined function was called from. */
static struct source_location find_caller(Dwarf_Die *unit, Dwarf_Die *inlined, bool knows_files)
{
	Dwarf_Attribute attribute;

	return (struct source_location){
		.line = number_of(inlined, DW_AT_call_line),
		.file = knows_files && dwarf_attr(inlined, DW_AT_call_file, &attribute)
				? file_of(unit, number_of(inlined, DW_AT_call_file))
				: NULL,
	};
}

static struct source_location location_in(Dwarf_Die *unit, uint64_t address)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	struct source_location location = { 0 };
	int number = 0;

	if (!line)
		return location;
	location.file = dwarf_linesrc(line, NULL, NULL);
	if (!dwarf_lineno(line, &number) && number > 0)
		location.line = (unsigned)number;
	return location;
}

/* The entry below this one that holds the address. */
static bool find_inner(Dwarf_Die *outer, uint64_t address, uint64_t end_ns, Dwarf_Die *ret)
{
	Dwarf_Die next;
	size_t looked = 0;
	int r = dwarf_child(outer, &next);

	while (!r) {
		if (dwarf_haspc(&next, address) > 0) {
			*ret = next;
			return true;
		}
		if (++looked % SEARCH_STEP == 0 && now_ns() > end_ns)
			return false;
		r = dwarf_siblingof(&next, &next);
	}
	return false;
}

/* The function that contains the address, from a list that is made at the first use of a unit. */
static bool find_function(struct lines *self, struct unit *unit, Dwarf_Die *entries,
			  uint64_t address, Dwarf_Die *ret)
{
	if (!unit->is_read) {
		if (!unit_functions_read(&unit->functions, entries, FUNCTIONS_MAX - self->functions,
					 now_ns() + SEARCH_NS))
			note_add("some inlined functions are not told: one unit has more debug "
				 "information than is read");
		self->functions += unit->functions.count;
		unit->is_read = true;
	}
	return unit_functions_find(&unit->functions, entries, address, ret);
}

/* From the function inwards as in the code.  dwarf_getscopes() would continue at the declaration of
 * an inlined function, and recurse as deep as the file demands. */
static size_t find_scopes(const Dwarf_Die *function, uint64_t address, Dwarf_Die ret[SCOPES_MAX])
{
	uint64_t end_ns = now_ns() + SEARCH_NS;
	size_t count = 1;

	ret[0] = *function;
	while (count < SCOPES_MAX && find_inner(&ret[count - 1], address, end_ns, &ret[count]))
		count++;
	return count;
}

/* Functions from the innermost scope outwards; `location` is that of the address. */
static size_t name_scopes(Dwarf_Die *entries, bool knows_files, Dwarf_Die *scopes, size_t scope,
			  struct source_location location, struct source_location *ret, size_t room)
{
	size_t count = 0;

	for (; scope && count < room; scope--) {
		Dwarf_Die *die = &scopes[scope - 1];
		int tag = dwarf_tag(die);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		location.function = function_name(die);
		ret[count++] = location;
		if (tag == DW_TAG_subprogram)
			break;
		location = find_caller(entries, die, knows_files);
	}
	return count;
}

static size_t find_lines(struct lines *lines, uint64_t address, struct source_location *ret,
			 size_t room)
{
	Dwarf_Die skeleton, entries, function, scopes[SCOPES_MAX];
	struct source_location location = { 0 };
	struct unit *unit;

	if (!has_room(0, 1) || !(unit = find_unit(lines, address, &skeleton)))
		return 0;
	if (has_rows(lines, &skeleton))
		location = location_in(&skeleton, address);
	entries = unit_entries(&skeleton);
	if (find_function(lines, unit, &entries, address, &function))
		return name_scopes(&entries, has_files(lines, &entries, &skeleton), scopes,
				   find_scopes(&function, address, scopes), location, ret, room);
	if (!location.file && !location.line)
		return 0;
	ret[0] = location;
	return 1;
}

const struct line_reader line_reader_libdw = { open_lines, close_lines, find_lines };

/* What libdw calls instead of open(): debug information names further files (.gnu_debugaltlink, and
 * DW_AT_dwo_name of split units), and its author may have named a device. */
int libdw_open(const char *path, int flags, ...);
int libdw_open64(const char *path, int flags, ...) __attribute__((alias("libdw_open")));

int libdw_open(const char *path, int flags, ...)
{
	int fd = foreign_file_open(/* pid */ 0, path);
	struct elf_verdict verdict = { 0 };
	int r = fd < 0 ? fd : elf_limits_check_file(fd, path, &verdict);

	(void)flags;
	if (!r && verdict.has_lines)
		return fd;
	if (fd >= 0)
		close(fd);
	errno = r ? -r : EFBIG;
	return -1;
}
