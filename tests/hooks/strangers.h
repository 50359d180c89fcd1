/*
 * A library whose functions are called like libc's.
 */
#pragma once

struct parser;

int accept(struct parser *parser, long kind, long value);
int connect(long left, long right, long weight);

/* Adds to a count, and returns it. */
long strangers_count(long more);

/* The sum of each argument times its number: six are in registers, or eight. */
long strangers_weigh(long, long, long, long, long, long, long, long, long, long, long, long, long,
		     long, long, long, long, long, long, long);

/* Calls both; always the same. */
long strangers_meet(void);
