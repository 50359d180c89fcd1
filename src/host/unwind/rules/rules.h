/*
 * Runs the program of one entry: which rules are in effect from which address on.  Only CFA, frame
 * pointer, return address and the register of exceptions are followed.  Code without an entry gets
 * its rules from its instructions (arch).
 */
#pragma once

#include "host/unwind/rules/frames.h"

struct code_reader;
struct go_machine;

/* The DWARF numbers of a machine's registers. */
struct unwind_machine {
	unsigned elf_machine; /* EM_... */
	unsigned sp, fp, ra, thrown;
	bool is_ra_pushed;              /* a call pushes it: it is at CFA - 8 */
	const struct code_reader *code; /* decodes its instructions */
	const struct go_machine *go;    /* the same for functions of Go */
};

enum rule_kind {
	RULE_SAME,    /* still in the register */
	RULE_AT,      /* at CFA + offset; of the CFA itself: register + offset */
	RULE_AT_FP,   /* at fp + offset */
	RULE_BY_WORD, /* of the CFA: the word at register + offset, plus `addition` */
	RULE_UNDEFINED,
	RULE_EXPRESSION,
	RULE_IN,    /* in another register, `base` */
	RULE_OTHER, /* a value that no table can hold */
};

struct rule {
	enum rule_kind kind;
	unsigned base; /* register; of the CFA and RULE_IN only */
	int64_t offset, addition;
	struct dwarf_bytes expression;
};

enum rules_kind {
	RULES_FRAME,
	RULES_SIGNAL, /* a frame made by the kernel */
	RULES_NONE,   /* nothing is known */
};

struct rules {
	enum rules_kind kind;
	struct rule cfa, fp, ra;
	struct rule thrown; /* the register passed to an exception's handler */
	bool is_kept;       /* the callee keeps the CFA's register, or ra's */
	bool is_low;        /* the CFA may be higher */
};

struct rules_listener {
	/* 0 or -errno, which ends the run. */
	int (*rules)(void *context, uint64_t address, const struct rules *rules);
	void *context;
};

/* Calls the listener for each address where rules change, ascending, from entry->start on.
 * -EBADMSG: the program is invalid. */
int rules_run(const struct unwind_machine *machine, const struct frame_common *common,
	      const struct frame_entry *entry, const struct rules_listener *listener) MUST_CHECK;
