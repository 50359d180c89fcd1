/*
 * How far this machine's time of day may be from the right one, as its kernel knows it.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct node_clock {
	uint64_t real_ns, boot_ns; /* of one moment */
	uint64_t error_ns;         /* at most, as the kernel reckons */
	bool is_synchronized;      /* else nobody keeps it, and the error means nothing */
};

void node_clock_read(struct node_clock *ret);
