/*
 * Chrome's JSON of several recordings in one file, with separate numbers of processes and times of
 * one clock.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/model/model.h"

struct chrome_ranks {
	struct json json;
	uint64_t origin_ns; /* the zero of times; nothing begins before it */
	uint64_t arrows;
};

void chrome_ranks_begin(struct chrome_ranks *ret, FILE *out, uint64_t origin_ns);
/* 0 or -errno. */
int chrome_ranks_add(struct chrome_ranks *ranks, struct model *model) MUST_CHECK;
void chrome_ranks_end(struct chrome_ranks *ranks);
