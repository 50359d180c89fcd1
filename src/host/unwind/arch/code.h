/*
 * Rules from instructions, for code without an entry: stubs of the linker, assembly, libraries
 * without .eh_frame, the vdso.  One implementation per machine folder.
 */
#pragma once

#include "host/unwind/arch/frame_step.h"
#include "host/unwind/rules/rows.h"

#define CODE_PIECE_MAX ((uint64_t)16 << 20) /* of code read at once */

/* Where functions begin, as far as known: a bit for each address where an instruction can be. */
struct code_begins {
	uint64_t first, count;
	unsigned char *named;  /* by a symbol, or as a section's beginning */
	unsigned char *called; /* by a possible call, which may be data; NULL on x86-64 */
	bool is_whole;         /* x86-64: each function has a name */
	bool is_assembly;      /* compilers wrote rules here: only other code has none */
};

/* A call of a function that begins by saving a register of its caller. */
struct saving_call {
	uint32_t start, end; /* in the piece */
	int32_t saved;       /* where, from that function's CFA */
};

/* The code of a function that switches from its stack to another, after it has stored its return
 * address in a structure (swapcontext of glibc).  Addresses are offsets in the piece. */
struct swap_code {
	struct {
		uint32_t start; /* from here on */
		unsigned in;    /* the DWARF number of the register that points to the structure */
		int32_t offset; /* the return address's offset in it */
	} saved[2];
	uint32_t call; /* the last byte of the switching call: no register points there now */
	/* Where it continues after a switch back: ra is in a register, for two instructions. */
	uint32_t back, back_end;
	unsigned back_in;
};

#define PLT_ENTRY_BYTES 16u

typedef void call_visitor(void *context, uint64_t target);

struct code_reader {
	unsigned step; /* instructions begin at its multiples */
	/* What the instruction does with a frame.  -EBADMSG: it is invalid. */
	int (*read_step)(struct frame_step *ret, const unsigned char *bytes, size_t room);
	/* -ENOMEM. */
	int (*find_begins)(const struct object *object, struct code_begins *ret);
	/* Calls the listener with the rules of a piece of code, as rules_run() does.  -ENOMEM. */
	int (*read)(const struct object_part *piece, const struct code_begins *begins,
		    const struct rules_listener *listener);
	/* Checks in the code of an entry whether fp points to where the caller's is saved, and
	 * marks its rows (UNWIND_FP_HELD).  `pc` is that of the code's beginning.  NULL where no
	 * row has such a mark. */
	void (*mark)(const struct object_part *code, uint32_t pc, struct unwind_row *rows,
		     size_t count);
	/* Code generated at run time, with a trampoline at its beginning: adds rows for that, the
	 * last of which holds for all code that it enters.  -ENODATA: there is none.  NULL: no such
	 * engine is known on this machine. */
	int (*add_entered)(const struct object_part *piece, struct rows *rows);
	/* Whether a function's last instruction may continue behind it: in the padding before the
	 * next function.  NULL: on this machine such code has names or rules of its own. */
	bool (*may_fall_on)(const struct object_part *code);
	/* The next place in the code, from `from` on, where an instruction may begin that pushes a
	 * number; the code's size: there is none.  NULL: on this machine nothing is pushed. */
	uint32_t (*find_number_push)(const struct object_part *code, uint32_t from);
	/* The next call in the piece from call->end on whose target saves the register of this
	 * DWARF number.  NULL where callers are not found by such registers. */
	bool (*find_saving_call)(const struct object *object, const struct object_part *piece,
				 unsigned number, struct saving_call *call);
	/* Whether the code is such a function.  NULL: on this machine its rules suffice. */
	bool (*read_swap)(const struct object_part *code, struct swap_code *ret);
	/* Visits the targets of direct calls, up to `margin` bytes before the end of the piece: an
	 * instruction may be cut there.  Returns the number of bytes read. */
	size_t (*each_call)(const struct object_part *piece, size_t margin, call_visitor *visit,
			    void *context);
	/* The address of the word that an entry of the procedure linkage table jumps through; false
	 * when these PLT_ENTRY_BYTES are no such entry. */
	bool (*plt_word)(const unsigned char *entry, uint64_t address, uint64_t *ret);
	unsigned plt_relocations[2]; /* the types of the relocations that fill such words */
};

extern const struct code_reader code_of_aarch64, code_of_x86_64;

/* NULL: not supported. */
const struct unwind_machine *unwind_machine_of(unsigned elf_machine);

/* Allocates ret->named and sets the bits of the symbols that pass the filter; named stays NULL
 * where there is no code, or more than 1 GiB.  -ENOMEM. */
int begins_find_names(const struct object *object, unsigned step,
		      bool (*is_function)(const Elf64_Sym *symbol),
		      struct code_begins *ret) MUST_CHECK;
/* `step`: that of the machine's code_reader. */
void begins_add(const struct code_begins *begins, unsigned char *bits, unsigned step,
		uint64_t address);
/* `bits` may be NULL: none is set. */
bool begins_have(const struct code_begins *begins, const unsigned char *bits, unsigned step,
		 uint64_t address);
