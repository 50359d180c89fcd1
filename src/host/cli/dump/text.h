/*
 * A dump as text for people.
 */
#pragma once

#include "host/recorder/dump/dump.h"

struct dump_style {
	bool all; /* nothing is folded */
	bool full_paths;
};

void dump_print(pid_t pid, const struct dump *dump, const struct dump_style *style);
