/*
 * Fuzzes the readers of instructions: whatever the bytes are, the rows ascend and are sound, and
 * reading ends.  The first byte says where functions have names.
 */
#include "fuzz.h"

#include <string.h>

#include "host/unwind/mend/mend.h"
#include "shared/base/macros.h"

#define CODE  0x10000u
#define NAMES 64u

struct hearing {
	struct rows rows;
	uint64_t last;
};

static int hear(void *context, uint64_t address, const struct rules *rules)
{
	struct hearing *hearing = context;
	const struct unwind_row row = { .kind = rules->kind == RULES_NONE ? UNWIND_NONE
									  : UNWIND_SIGNAL,
					.fp = UNWIND_FP_SAME };
	uint32_t pc = (uint32_t)(address - CODE + 1);

	must(address + 1 >= CODE && address + 1 >= hearing->last);
	hearing->last = address;
	return rules->kind == RULES_FRAME ? rows_add_rules(&hearing->rows, pc, rules)
					  : rows_add(&hearing->rows, pc, row);
}

static void check_rows(const struct rows *rows, size_t size)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct unwind_row *row = &rows->items[i];

		must(row->pc <= size + 2);
		must(!i || rows->items[i - 1].pc < row->pc);
		must((row->kind & UNWIND_KIND_MASK) < UNWIND_KINDS);
		if ((row->kind & UNWIND_KIND_MASK) == UNWIND_SPECIAL)
			must(row->cfa < rows->special_count);
	}
}

static void count_call(void *context, uint64_t target)
{
	(void)target;
	++*(size_t *)context;
}

static void read_as(unsigned elf_machine, const uint8_t *bytes, size_t size, unsigned char name)
{
	const struct unwind_machine *machine = unwind_machine_of(elf_machine);
	const struct object_part piece = { bytes, size / machine->code->step * machine->code->step,
					   CODE, true };
	unsigned char named[NAMES], called[NAMES] = { 0 };
	const struct code_begins begins = { CODE, (uint64_t)NAMES * 8, named, called };
	struct hearing hearing = { .rows.machine = machine };
	size_t calls = 0;
	const struct rules_listener listener = { hear, &hearing };

	memset(named, name, sizeof(named));
	must(!machine->code->read(&piece, &begins, &listener));
	check_rows(&hearing.rows, size);
	must(machine->code->each_call(&piece, 0, count_call, &calls) == piece.size);
	must(calls <= size);
	rows_done(&hearing.rows);
}

/* A function with one rule beside that of its begin: where, and what it says, is in the first
 * bytes; also that the function goes on in an exception's handler. */
static void mend_as(unsigned elf_machine, const uint8_t *bytes, size_t size)
{
	struct rows rows = { .machine = unwind_machine_of(elf_machine) };
	bool is_pushed = rows.machine->is_ra_pushed;
	const struct object_part code = { bytes + 4, size - 4, CODE, true };
	const struct unwind_row begin = { .kind = is_pushed ? UNWIND_SP
							    : UNWIND_SP | UNWIND_RA_IN_REGISTER,
					  .cfa = is_pushed,
					  .fp = UNWIND_FP_SAME };
	const unsigned kind = bytes[0] & 1 ? UNWIND_FP : UNWIND_SP;
	const struct unwind_row later = { .kind = (__u8)(kind | (bytes[0] & 2 ? UNWIND_THROWS : 0)),
					  .cfa = bytes[1] & 15,
					  .fp = (__s8) - (bytes[2] & 15) };

	must(!rows_add(&rows, 0, begin));
	must(!rows_add(&rows, (uint32_t)(1 + bytes[3] % size), later));
	must(!throwers_narrow(&rows, 0, &code, 0));
	check_rows(&rows, size);
	must(!epilogues_mend(&rows, 0, &code, 0));
	check_rows(&rows, size);
	rows_done(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size < 2)
		return 0;
	read_as(EM_X86_64, bytes + 1, size - 1, bytes[0]);
	read_as(EM_AARCH64, bytes + 1, size - 1, bytes[0]);
	if (size < 5)
		return 0;
	mend_as(EM_X86_64, bytes, size);
	mend_as(EM_AARCH64, bytes, size);
	return 0;
}
