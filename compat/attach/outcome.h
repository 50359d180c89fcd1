/*
 * How a call of an attach library ended: the number that AMD's interface has for it, and words.
 */
#pragma once

#include <limpet/limpet.h>
#include <rocprofiler-sdk-rocattach/types.h>

struct outcome {
	rocattach_status_t status;
	char message[1024]; /* empty on success */
};

/* Each returns the status. */
rocattach_status_t outcome_set(struct outcome *outcome, rocattach_status_t status,
			       const char *format, ...) __attribute__((format(printf, 3, 4)));
rocattach_status_t outcome_set_error(struct outcome *outcome, const struct limpet_error *error);

/* Prints an error on stderr. */
rocattach_status_t outcome_tell(const struct outcome *outcome);
