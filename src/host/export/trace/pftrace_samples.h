/*
 * Samples in Perfetto's trace format.
 */
#pragma once

#include "host/model/model.h"

#include <stdio.h>

/* Packets with all samples of the view; nothing where there are none. */
int pftrace_samples_write(struct model *model, FILE *out) MUST_CHECK;
