/*
 * Runs the program of one entry: which rules hold from which address on.  Only three registers are
 * followed: CFA, frame pointer, return address.  Code without an entry has its rules from its
 * instructions (arch).
 */
#pragma once

#include "host/unwind/rules/frames.h"

struct code_reader;

/* How DWARF counts the registers of a machine. */
struct unwind_machine {
	unsigned elf_machine; /* EM_... */
	unsigned sp, fp, ra, thrown;
	bool is_ra_pushed;              /* a call pushes it: it is at CFA - 8 */
	const struct code_reader *code; /* how its instructions are read */
};

/* NULL: one that limpet does not know. */
const struct unwind_machine *unwind_machine_of(unsigned elf_machine);

enum rule_kind {
	RULE_SAME, /* in the register still */
	RULE_AT,   /* at CFA + offset; of the CFA itself: register + offset */
	RULE_UNDEFINED,
	RULE_EXPRESSION,
	RULE_IN,    /* in another register, `base` */
	RULE_OTHER, /* a value: nothing that a table can say */
};

struct rule {
	enum rule_kind kind;
	unsigned base; /* register; of the CFA and RULE_IN only */
	int64_t offset;
	struct dwarf_bytes expression;
};

enum rules_kind {
	RULES_FRAME,
	RULES_SIGNAL, /* a frame that the kernel laid */
	RULES_NONE,   /* nothing is known */
};

struct rules {
	enum rules_kind kind;
	struct rule cfa, fp, ra;
	struct rule thrown; /* the register that is handed to an exception's handler */
	bool is_kept;       /* whom it has called leaves the CFA's register alone, or ra's */
	bool is_low;        /* the CFA may be higher */
};

struct rules_listener {
	/* 0 or -errno, which ends the run. */
	int (*rules)(void *context, uint64_t address, const struct rules *rules);
	void *context;
};

/* Calls the listener for each address where rules change, ascending, from entry->start on.
 * -EBADMSG: the program makes no sense. */
int rules_run(const struct unwind_machine *machine, const struct frame_common *common,
	      const struct frame_entry *entry, const struct rules_listener *listener) MUST_CHECK;
