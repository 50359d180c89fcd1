/*
 * The maximum error of this machine's time of day, by its kernel's estimate.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct node_clock {
	uint64_t real_ns, boot_ns; /* of one moment */
	uint64_t error_ns;         /* at most, by the kernel's estimate */
	bool is_synchronized;      /* else the error means nothing */
};

void node_clock_read(struct node_clock *ret);
