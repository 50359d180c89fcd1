/*
 * How a call of an attach library ended: the number that AMD's interface has for it, and words; and
 * messages for a person, on stderr of the program that uses the library.  ROCATTACH_LOG_LEVEL or
 * ROCPROF_LOG_LEVEL sets the level: fatal (nothing), error, warning (the default), info, trace.
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

/* The same numbers as in host/rocprofv3/listener.h. */
enum log_level { LOG_FATAL, LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_TRACE };

/* One message in one write: a line, or, as it is, several.  errno stays as it is. */
void log_lines(enum log_level level, const char *lines);
void log_say(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
