/*
 * Options from a table; --help and shell completion are made from the same lines, so they cannot
 * drift.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <stdio.h>

enum option_kind {
	OPTION_FLAG = 0, /* bool, takes no argument */
	OPTION_TEXT,     /* const char *, into argv; the last one counts */
	OPTION_ONCE,     /* the same, and a second one is an error */
	OPTION_NUMBER,   /* uint64_t */
	OPTION_SIZE,     /* uint64_t, bytes above 0: 4096, 512K, 100M, 2G */
	OPTION_DURATION, /* uint64_t, nanoseconds */
	OPTION_SPAN,     /* the same; 0 is an error, because nothing would be recorded */
	OPTION_LIST,     /* struct option_list: may be repeated */
	OPTION_BITS,     /* uint32_t, to which bits are added; takes no argument */
};

#define OPTION_LIST_MAX 64

struct option_list {
	size_t count;
	const char *items[OPTION_LIST_MAX]; /* into argv */
};

/* A table ends with an entry that has no long name. */
struct option_desc {
	char short_name; /* 0: none */
	const char *long_name;
	const char *arg;  /* its name in --help; NULL for a flag */
	const char *help; /* NULL: an old name, which works and is not shown */
	size_t offset;    /* of the value in the struct for options_parse() */
	enum option_kind kind;
	uint32_t bits; /* of OPTION_BITS */
};

/*
 * Parses argv, which ends with NULL and is without the verb.  Options may be before and after
 * operands; "--" ends them.  Values without a given option keep the caller's default.  Returns the
 * number of operands, which are then argv[0], argv[1], ... NULL; or -EINVAL with exit code
 * EXIT_USAGE.
 */
int options_parse(const struct option_desc *table, char **argv, void *values,
		  struct err *err) MUST_CHECK;

/* True when --help or -h stands among the options. */
bool options_want_help(char *const *argv);

/* One line for each option, aligned. */
void options_print_help(const struct option_desc *table, FILE *out);
