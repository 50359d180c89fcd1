/*
 * Where a program that limpet has started waits: two pieces of memory, mapped before its first
 * instruction has run.  The dynamic linker takes it for the program's entry point (AT_ENTRY), so
 * the program reaches it when all its libraries are initialised and none of its own code has run.
 * The code (shared/arch/MACHINE/doorstep.S) waits until the host sets a word, or until its parent
 * is not limpet any more; then it undoes all of this and jumps to the real entry point.
 *
 *   0      the code, read and execute only
 *   64 K   struct doorstep
 *   128 K  end
 */
#pragma once

#define DOORSTEP_DATA 0x10000
#define DOORSTEP_SIZE 0x20000

/* Offsets in struct doorstep, for the assembler. */
#define DOORSTEP_STEP           8
#define DOORSTEP_GO             12
#define DOORSTEP_PARENT         16
#define DOORSTEP_ENTRY          24
#define DOORSTEP_ENTRY_WORD     32
#define DOORSTEP_REGION         40
#define DOORSTEP_SYSCALL_RETURN 48
#define DOORSTEP_PAUSE          56
#define DOORSTEP_ERRAND         72
#define DOORSTEP_ARGUMENT       80
#define DOORSTEP_EPILOGUE       88
#define DOORSTEP_FRAME_SIZE     96
#define DOORSTEP_IS_SIGNED      100

#define DOORSTEP_IS_THERE 1
#define DOORSTEP_HAS_LEFT 2

#define DOORSTEP_PAUSE_NS 1000000

#ifndef __ASSEMBLER__
#include "shared/base/macros.h"

#define DOORSTEP_MAGIC 0x6c696d7065746473ull

struct doorstep {
	uint64_t magic;
	uint32_t step;           /* DOORSTEP_IS_THERE, DOORSTEP_HAS_LEFT */
	uint32_t go;             /* the host's word */
	int64_t parent;          /* its death ends the wait, too */
	uint64_t entry;          /* where the program begins */
	uint64_t entry_word;     /* the address of AT_ENTRY on its stack */
	uint64_t region;         /* of the code */
	uint64_t syscall_return; /* code of the dynamic linker; 0: the memory stays */
	uint64_t pause[2];       /* a timespec, spoilt by each wait */
	uint64_t errand;         /* a function to call meanwhile, if any; 0 again when it is done */
	uint64_t argument;
	/* aarch64: code of the dynamic linker that sets x0 after this memory is unmapped; 0: the
	 * memory stays. */
	uint64_t epilogue;
	uint32_t frame_size, is_signed; /* as in struct epilogue */
};

_Static_assert(offsetof(struct doorstep, step) == DOORSTEP_STEP &&
		       offsetof(struct doorstep, go) == DOORSTEP_GO &&
		       offsetof(struct doorstep, parent) == DOORSTEP_PARENT &&
		       offsetof(struct doorstep, entry) == DOORSTEP_ENTRY &&
		       offsetof(struct doorstep, entry_word) == DOORSTEP_ENTRY_WORD &&
		       offsetof(struct doorstep, region) == DOORSTEP_REGION &&
		       offsetof(struct doorstep, syscall_return) == DOORSTEP_SYSCALL_RETURN &&
		       offsetof(struct doorstep, pause) == DOORSTEP_PAUSE &&
		       offsetof(struct doorstep, errand) == DOORSTEP_ERRAND &&
		       offsetof(struct doorstep, argument) == DOORSTEP_ARGUMENT &&
		       offsetof(struct doorstep, epilogue) == DOORSTEP_EPILOGUE &&
		       offsetof(struct doorstep, frame_size) == DOORSTEP_FRAME_SIZE &&
		       offsetof(struct doorstep, is_signed) == DOORSTEP_IS_SIGNED,
	       "as the assembler knows it");

/* The code, to be copied; it finds its data by itself. */
extern const unsigned char doorstep_begin[], doorstep_end[];
#endif
