/*
 * Pictures in a terminal, one after the other, and the keys.
 */
#pragma once

#include "host/top/render/terminal.h"
#include "host/top/top.h"

struct show_options {
	struct terminal_options terminal;
	uint64_t duration_ns; /* UINT64_MAX: until asked to leave */
	const char *output;   /* of a frozen picture; NULL: limpet-PID.limpet */
};

/* Returns when it was left; the terminal is as it was then. */
int top_show(struct top *top, const struct show_options *options, struct err *err) MUST_CHECK;
