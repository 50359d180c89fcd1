/*
 * Messages of the attach libraries for a person, on stderr of the program that uses them.
 * ROCATTACH_LOG_LEVEL or ROCPROF_LOG_LEVEL sets the level: fatal (nothing), error, warning (the
 * default), info, trace.
 */
#pragma once

/* The same numbers as in face.h. */
enum log_level { LOG_FATAL, LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_TRACE };

/* One message in one write: a line, or, as it is, several.  errno stays as it is. */
void log_lines(enum log_level level, const char *lines);
void log_say(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
