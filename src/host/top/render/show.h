/*
 * Pictures in a terminal, one after the other, and the keys.
 */
#pragma once

#include "host/top/render/terminal.h"
#include "host/top/top.h"

struct show_options {
	struct terminal_options terminal;
	uint64_t duration_ns; /* UINT64_MAX: until the user leaves */
	const char *output;   /* of a frozen picture; NULL: limpet-PID.limpet */
};

/* Returns when the user has left, or at the end; the terminal is restored then. */
int top_show(struct top *top, const struct show_options *options, struct err *err) MUST_CHECK;
