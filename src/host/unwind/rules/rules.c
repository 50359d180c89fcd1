/*
 * The machine of call frame instructions (DWARF 5, 6.4.2), for four registers.
 */
#include "host/unwind/rules/rules.h"

#include <dwarf.h>
#include <errno.h>

#define REMEMBERED_MAX 32

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

static struct rule read_expression(struct run *run)
{
	uint64_t size = dwarf_read_unsigned(&run->program);

	return (struct rule){ .kind = RULE_EXPRESSION,
			      .expression = dwarf_read_piece(&run->program, size) };
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

/* Instructions that set the rule of one register.  False: another one. */
static bool run_register(struct run *run, unsigned code)
{
	struct dwarf_bytes before = run->program;
	uint64_t number = dwarf_read_unsigned(&run->program), holder;

	switch (code) {
	case DW_CFA_offset_extended:
		set_rule(run, number,
			 rule_at(value_scaled(run, dwarf_read_unsigned(&run->program))));
		return true;
	case DW_CFA_offset_extended_sf:
		set_rule(run, number,
			 rule_at(value_scaled(run, (uint64_t)dwarf_read_signed(&run->program))));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set_rule(run, number,
			 rule_at(value_scaled(run, -dwarf_read_unsigned(&run->program))));
		return true;
	case DW_CFA_undefined:
		set_rule(run, number, (struct rule){ RULE_UNDEFINED });
		return true;
	case DW_CFA_same_value:
		set_rule(run, number, (struct rule){ RULE_SAME });
		return true;
	case DW_CFA_register:
		holder = dwarf_read_unsigned(&run->program);
		set_rule(run, number, (struct rule){ RULE_IN, (unsigned)MIN(holder, UINT32_MAX) });
		return true;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf: /* signed, which does not change its size */
		dwarf_read_unsigned(&run->program);
		set_rule(run, number, (struct rule){ RULE_OTHER });
		return true;
	case DW_CFA_expression:
		set_rule(run, number, read_expression(run));
		return true;
	case DW_CFA_val_expression:
		read_expression(run);
		set_rule(run, number, (struct rule){ RULE_OTHER });
		return true;
	default:
		run->program = before;
		return false;
	}
}

/* Instructions that define the CFA.  False: another one. */
static bool run_cfa(struct run *run, unsigned code)
{
	struct rule *cfa = &run->now.cfa;

	switch (code) {
	case DW_CFA_def_cfa:
		*cfa = (struct rule){ RULE_AT, (unsigned)dwarf_read_unsigned(&run->program) };
		cfa->offset = (int64_t)dwarf_read_unsigned(&run->program);
		return true;
	case DW_CFA_def_cfa_sf:
		*cfa = (struct rule){ RULE_AT, (unsigned)dwarf_read_unsigned(&run->program) };
		cfa->offset = value_scaled(run, (uint64_t)dwarf_read_signed(&run->program));
		return true;
	case DW_CFA_def_cfa_register:
		*cfa = (struct rule){ RULE_AT, (unsigned)dwarf_read_unsigned(&run->program),
				      cfa->offset };
		return true;
	case DW_CFA_def_cfa_offset:
		*cfa = (struct rule){ RULE_AT, cfa->base,
				      (int64_t)dwarf_read_unsigned(&run->program) };
		return true;
	case DW_CFA_def_cfa_offset_sf:
		*cfa = (struct rule){ RULE_AT, cfa->base,
				      value_scaled(run,
						   (uint64_t)dwarf_read_signed(&run->program)) };
		return true;
	case DW_CFA_def_cfa_expression:
		*cfa = read_expression(run);
		return true;
	default:
		return false;
	}
}

/* Instructions whose operands are not in their first byte. */
static int run_extended(struct run *run, unsigned code)
{
	switch (code) {
	case DW_CFA_nop:
	case DW_CFA_AARCH64_negate_ra_state: /* ra is signed from here on; the walk strips that */
		return 0;
	case DW_CFA_GNU_args_size:
		dwarf_read_unsigned(&run->program);
		return 0;
	case DW_CFA_set_loc:
		return move_to(run,
			       dwarf_read_pointer(&run->program, run->common->pointer_encoding));
	case DW_CFA_advance_loc1:
		return run_advance(run, dwarf_read_fixed(&run->program, 1));
	case DW_CFA_advance_loc2:
		return run_advance(run, dwarf_read_fixed(&run->program, 2));
	case DW_CFA_advance_loc4:
		return run_advance(run, dwarf_read_fixed(&run->program, 4));
	case DW_CFA_restore_extended:
		return register_restore(run, dwarf_read_unsigned(&run->program));
	case DW_CFA_remember_state:
		if (run->remembered_count == REMEMBERED_MAX)
			return -EBADMSG;
		run->remembered[run->remembered_count++] = run->now;
		return 0;
	case DW_CFA_restore_state:
		if (!run->remembered_count)
			return -EBADMSG;
		run->now = run->remembered[--run->remembered_count];
		return 0;
	default:
		return run_cfa(run, code) || run_register(run, code) ? 0 : -EBADMSG;
	}
}

static int run_step(struct run *run)
{
	unsigned byte = (unsigned)dwarf_read_fixed(&run->program, 1), low = byte & 0x3f;

	switch (byte & 0xc0) {
	case DW_CFA_advance_loc:
		return run_advance(run, low);
	case DW_CFA_offset:
		set_rule(run, low, rule_at(value_scaled(run, dwarf_read_unsigned(&run->program))));
		return 0;
	case DW_CFA_restore:
		return register_restore(run, low);
	default:
		return run_extended(run, low);
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
