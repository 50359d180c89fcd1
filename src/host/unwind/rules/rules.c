/*
 * The machine of call frame instructions (DWARF 5, 6.4.2), for four registers.
 */
#include "host/unwind/rules/rules.h"

#include <errno.h>

#include "host/unwind/arch/code.h"

#define REMEMBERED_MAX 32

static const struct unwind_machine machines[] = {
	{ .elf_machine = EM_X86_64,
	  .sp = 7,
	  .fp = 6,
	  .ra = 16,
	  .thrown = 0,
	  .is_ra_pushed = true,
	  .code = &code_of_x86_64 },
	{ .elf_machine = EM_AARCH64,
	  .sp = 31,
	  .fp = 29,
	  .ra = 30,
	  .thrown = 0,
	  .is_ra_pushed = false,
	  .code = &code_of_aarch64 },
};

const struct unwind_machine *unwind_machine_of(unsigned elf_machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].elf_machine == elf_machine)
			return &machines[i];
	return NULL;
}

struct run {
	const struct unwind_machine *machine;
	const struct frame_common *common;
	const struct rules_listener *listener; /* NULL during the CIE's program */
	struct dwarf_bytes program;
	uint64_t address;
	struct rules now;
	const struct rules *initial;
	struct rules remembered[REMEMBERED_MAX];
	unsigned remembered_count;
};

/* NULL for other registers. */
static struct rule *rule_of(struct run *run, struct rules *rules, uint64_t number)
{
	if (number == run->machine->fp)
		return &rules->fp;
	if (number == run->machine->thrown)
		return &rules->thrown;
	return number == run->common->return_register ? &rules->ra : NULL;
}

static void set_rule(struct run *run, uint64_t number, struct rule to)
{
	struct rule *rule = rule_of(run, &run->now, number);

	if (rule)
		*rule = to;
}

static int64_t value_scaled(const struct run *run, uint64_t value)
{
	return (int64_t)(value * (uint64_t)run->common->data_step);
}

static struct rule rule_at(int64_t offset)
{
	return (struct rule){ .kind = RULE_AT, .offset = offset };
}

static int move_to(struct run *run, uint64_t address)
{
	int r = 0;

	if (address < run->address)
		return -EBADMSG;
	if (run->listener && address > run->address)
		r = run->listener->rules(run->listener->context, run->address, &run->now);
	run->address = address;
	return r;
}

static int run_advance(struct run *run, uint64_t steps)
{
	return move_to(run, run->address + steps * run->common->code_step);
}

static int register_restore(struct run *run, uint64_t number)
{
	struct rules initial;
	const struct rule *rule;

	if (!run->initial)
		return -EBADMSG;
	initial = *run->initial;
	rule = rule_of(run, &initial, number);
	if (rule)
		set_rule(run, number, *rule);
	return 0;
}

static int do_nothing(struct run *run)
{
	(void)run;
	return 0;
}

static int do_set_loc(struct run *run)
{
	return move_to(run, dwarf_take_pointer(&run->program, run->common->pointer_encoding));
}

static int do_advance_1(struct run *run)
{
	return run_advance(run, dwarf_take_fixed(&run->program, 1));
}

static int do_advance_2(struct run *run)
{
	return run_advance(run, dwarf_take_fixed(&run->program, 2));
}

static int do_advance_4(struct run *run)
{
	return run_advance(run, dwarf_take_fixed(&run->program, 4));
}

static int do_offset_extended(struct run *run)
{
	uint64_t number = dwarf_take_unsigned(&run->program);

	set_rule(run, number, rule_at(value_scaled(run, dwarf_take_unsigned(&run->program))));
	return 0;
}

static int do_offset_extended_signed(struct run *run)
{
	uint64_t number = dwarf_take_unsigned(&run->program);
	uint64_t offset = (uint64_t)dwarf_take_signed(&run->program);

	set_rule(run, number, rule_at(value_scaled(run, offset)));
	return 0;
}

/* DW_CFA_GNU_negative_offset_extended. */
static int do_negative_offset(struct run *run)
{
	uint64_t number = dwarf_take_unsigned(&run->program);

	set_rule(run, number, rule_at(value_scaled(run, -dwarf_take_unsigned(&run->program))));
	return 0;
}

static int do_restore_extended(struct run *run)
{
	return register_restore(run, dwarf_take_unsigned(&run->program));
}

static int do_undefined(struct run *run)
{
	set_rule(run, dwarf_take_unsigned(&run->program), (struct rule){ RULE_UNDEFINED });
	return 0;
}

static int do_same_value(struct run *run)
{
	set_rule(run, dwarf_take_unsigned(&run->program), (struct rule){ RULE_SAME });
	return 0;
}

static int do_register(struct run *run)
{
	uint64_t number = dwarf_take_unsigned(&run->program);
	uint64_t holder = dwarf_take_unsigned(&run->program);

	set_rule(run, number, (struct rule){ RULE_IN, (unsigned)MIN(holder, UINT32_MAX) });
	return 0;
}

/* A value, not an address. */
static int do_value_offset(struct run *run)
{
	uint64_t number = dwarf_take_unsigned(&run->program);

	dwarf_take_unsigned(&run->program);
	set_rule(run, number, (struct rule){ RULE_OTHER });
	return 0;
}

static int do_remember(struct run *run)
{
	if (run->remembered_count == REMEMBERED_MAX)
		return -EBADMSG;
	run->remembered[run->remembered_count++] = run->now;
	return 0;
}

static int do_recall(struct run *run)
{
	if (!run->remembered_count)
		return -EBADMSG;
	run->now = run->remembered[--run->remembered_count];
	return 0;
}

static int define_cfa(struct run *run, uint64_t base, int64_t offset)
{
	run->now.cfa = (struct rule){ RULE_AT, (unsigned)base, offset };
	return 0;
}

static int do_cfa(struct run *run)
{
	uint64_t base = dwarf_take_unsigned(&run->program);

	return define_cfa(run, base, (int64_t)dwarf_take_unsigned(&run->program));
}

static int do_cfa_signed(struct run *run)
{
	uint64_t base = dwarf_take_unsigned(&run->program);

	return define_cfa(run, base, value_scaled(run, (uint64_t)dwarf_take_signed(&run->program)));
}

static int do_cfa_register(struct run *run)
{
	return define_cfa(run, dwarf_take_unsigned(&run->program), run->now.cfa.offset);
}

static int do_cfa_offset(struct run *run)
{
	return define_cfa(run, run->now.cfa.base, (int64_t)dwarf_take_unsigned(&run->program));
}

static int do_cfa_offset_signed(struct run *run)
{
	uint64_t offset = (uint64_t)dwarf_take_signed(&run->program);

	return define_cfa(run, run->now.cfa.base, value_scaled(run, offset));
}

static struct rule take_expression(struct run *run)
{
	uint64_t size = dwarf_take_unsigned(&run->program);

	return (struct rule){ .kind = RULE_EXPRESSION,
			      .expression = dwarf_take_piece(&run->program, size) };
}

static int do_cfa_expression(struct run *run)
{
	run->now.cfa = take_expression(run);
	return 0;
}

static int do_expression(struct run *run)
{
	uint64_t number = dwarf_take_unsigned(&run->program);

	set_rule(run, number, take_expression(run));
	return 0;
}

static int do_value_expression(struct run *run)
{
	uint64_t number = dwarf_take_unsigned(&run->program);

	take_expression(run);
	set_rule(run, number, (struct rule){ RULE_OTHER });
	return 0;
}

static int do_arguments_size(struct run *run)
{
	dwarf_take_unsigned(&run->program);
	return 0;
}

/* By the number of the instruction; a hole is one that no compiler emits. */
static int (*const instructions[0x40])(struct run *run) = {
	[0x00] = do_nothing,
	[0x01] = do_set_loc,
	[0x02] = do_advance_1,
	[0x03] = do_advance_2,
	[0x04] = do_advance_4,
	[0x05] = do_offset_extended,
	[0x06] = do_restore_extended,
	[0x07] = do_undefined,
	[0x08] = do_same_value,
	[0x09] = do_register,
	[0x0a] = do_remember,
	[0x0b] = do_recall,
	[0x0c] = do_cfa,
	[0x0d] = do_cfa_register,
	[0x0e] = do_cfa_offset,
	[0x0f] = do_cfa_expression,
	[0x10] = do_expression,
	[0x11] = do_offset_extended_signed,
	[0x12] = do_cfa_signed,
	[0x13] = do_cfa_offset_signed,
	[0x14] = do_value_offset,
	[0x15] = do_value_offset, /* signed, which does not change its size */
	[0x16] = do_value_expression,
	[0x2d] = do_nothing, /* aarch64: ra is signed from here on; the walk strips that */
	[0x2e] = do_arguments_size,
	[0x2f] = do_negative_offset,
};

static int run_step(struct run *run)
{
	unsigned byte = (unsigned)dwarf_take_fixed(&run->program, 1), low = byte & 0x3f;

	switch (byte >> 6) {
	case 1:
		return run_advance(run, low);
	case 2:
		set_rule(run, low, rule_at(value_scaled(run, dwarf_take_unsigned(&run->program))));
		return 0;
	case 3:
		return register_restore(run, low);
	default:
		return instructions[low] ? instructions[low](run) : -EBADMSG;
	}
}

static int run_all(struct run *run)
{
	int r = 0;

	while (!r && run->program.at < run->program.end) {
		r = run_step(run);
		if (run->program.is_broken)
			return -EBADMSG;
	}
	return r;
}

int rules_run(const struct unwind_machine *machine, const struct frame_common *common,
	      const struct frame_entry *entry, const struct rules_listener *listener)
{
	struct run run = {
		.machine = machine,
		.common = common,
		.program = common->program,
		.address = entry->start,
	};
	struct rules initial;
	int r = run_all(&run);

	if (r < 0)
		return r;
	initial = run.now;
	run.initial = &initial;
	run.listener = listener;
	run.program = entry->program;
	run.address = entry->start;
	r = run_all(&run);
	return r < 0 ? r : listener->rules(listener->context, run.address, &run.now);
}
