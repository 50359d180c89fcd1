/*
 * A library whose functions are called like libc's.
 */
#pragma once

struct parser;

int accept(struct parser *parser, long kind, long value);
int connect(long left, long right, long weight);

/* Calls both; always the same. */
long strangers_meet(void);
