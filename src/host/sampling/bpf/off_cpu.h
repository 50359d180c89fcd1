/*
 * Threads that are off the processor: where each of them left it, kept until it comes back and its
 * time is known.
 */
#pragma once

#include "host/sampling/bpf/scheduler.h"
#include "shared/base/macros.h"
#include "shared/wire/kernel.h"

#include <stdbool.h>
#include <stddef.h>

struct absences {
	void *tree; /* of struct absence, by tid */
	struct scheduler scheduler;
};

typedef void absence_visitor(const struct sample *sample, void *context);

/* NEWS_LEFT: it is away from now on.  -ENOMEM. */
int absences_begin(struct absences *absences, const struct sample *left) MUST_CHECK;

/* NEWS_CAME: a sample of the time it was blocked, one of the time it waited for a processor. */
void absences_end(struct absences *absences, const struct sample *came, absence_visitor *visit,
		  void *context);

/* Samples of those that are away still, until now.  map: what the kernel programs know of them. */
void absences_flush(struct absences *absences, int map, uint64_t now_ns, absence_visitor *visit,
		    void *context);

void absences_done(struct absences *absences);
