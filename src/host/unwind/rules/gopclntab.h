/*
 * Go's own table of functions (.gopclntab), which every Go program has, also when it is stripped:
 * where functions are, their names, files and lines, what was inlined, and how large their frames
 * are at each instruction.  The layouts of Go 1.16, 1.18 and 1.20, which later ones share.  The
 * bytes are foreign: each part is bounded, and tables end with their function.
 */
#pragma once

#include "host/unwind/elf/bytes.h"

#include <stddef.h>

/* The largest known programs have three hundred thousand. */
#define GO_FUNCTIONS_MAX (4u << 20)
#define GO_VALUES_MAX    (1u << 20) /* of one function */
#define GO_TEXT_MAX      16384u     /* of a name or a file */

/* The offset of the code's address in the header, from Go 1.18 on; 0 from Go 1.26 on. */
#define GO_TEXT_START_AT 24u

struct go_part {
	const unsigned char *bytes;
	uint64_t size;
};

struct go_layout;

struct gopclntab {
	const struct go_layout *layout;
	struct go_part all, names, units, files, values, functions;
	uint64_t count;      /* of functions */
	uint64_t text_start; /* the base of entries; from Go 1.18 on */
	unsigned quantum;    /* the size of the smallest instruction */
};

enum go_flag {
	GO_TOP_FRAME = 1,
	GO_WRITES_SP = 2, /* other than for its frame */
};

struct go_function {
	uint64_t start, end;
	const char *name;
	uint32_t frame_values, file_values, line_values; /* offsets of tables; 0: none */
	uint32_t inline_values;
	uint32_t unit;
	uint64_t inline_tree; /* 1.16: its address; later: its offset; UINT64_MAX: none */
	uint8_t flags;        /* enum go_flag */
};

/* Bytes of the table.  `text_start` is used where the table has none.  -EBADMSG: not
 * such a table, of an unknown layout, or the beginning of its code is not known. */
int gopclntab_open(struct gopclntab *ret, const unsigned char *bytes, uint64_t size,
		   uint64_t text_start) MUST_CHECK;

/* Where the code of a Go program begins, which the offsets of its functions count from, if the
 * table's own header has no address.  Before Go 1.26 that is relocated code: the linker's
 * relocation has the address.  From Go 1.26 on the program's module data (.go.module) has it. */
struct go_places {
	uint64_t table;             /* the table's address */
	struct go_part description; /* empty: there is none */
	uint64_t description_at;    /* its address */
	struct go_part relocations; /* Elf64_Rela; empty: there are none */
};

/* 0: not known. */
uint64_t go_text_start(const struct go_places *places);

/* A section of an ELF file; false: it has none of that name. */
typedef bool go_section_finder(const void *file, const char *name, struct go_part *ret,
			       uint64_t *ret_at);
/* Opens the table of a file, and says where it is in memory.  False: there is none that is known.
 */
bool gopclntab_open_in(struct gopclntab *ret, go_section_finder *find, const void *file,
		       uint64_t *ret_at);

/* False: its entry is invalid. */
bool gopclntab_function(const struct gopclntab *table, uint64_t number, struct go_function *ret);
/* The function that contains an address; functions ascend. */
bool gopclntab_find(const struct gopclntab *table, uint64_t address, struct go_function *ret);

/* Values by address, from the function's start on. */
struct go_values {
	struct dwarf_bytes bytes;
	uint64_t start, end, limit; /* of the code with the present `value` */
	int64_t value;
	unsigned quantum, count; /* count: of the values so far */
	bool has_begun;
};

struct go_values go_values_of(const struct gopclntab *table, const struct go_function *function,
			      uint32_t offset);
/* False at the end, after GO_VALUES_MAX of them, and where the table is invalid. */
bool go_values_next(struct go_values *values);

struct go_line {
	const char *file; /* NULL: not known */
	unsigned line;    /* 0: not known */
};

struct go_line gopclntab_line(const struct gopclntab *table, const struct go_function *function,
			      uint64_t address);

/* An inlined call at an address, one step outwards. */
struct go_inlined {
	const char *name;
	uint64_t caller; /* the address that stands for the call */
};

/* `tree`: the bytes from the function's inline tree to the end of readable memory. */
bool gopclntab_inlined(const struct gopclntab *table, const struct go_function *function,
		       const struct go_part *tree, uint64_t address, struct go_inlined *ret);

/* The offset of a pointer to the inline trees in the program's module data, which begins with the
 * address of the table.  0: trees have addresses. */
unsigned gopclntab_trees_at(const struct gopclntab *table);
/* The offset of the code's beginning in the module data, to recognise it. */
#define GO_DESCRIPTION_TEXT 176u
/* The section with the module data alone, from Go 1.26 on. */
#define GO_DESCRIPTION ".go.module"
