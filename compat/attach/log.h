/*
 * What the attach libraries say to a person, on stderr of the program that uses them.
 * ROCATTACH_LOG_LEVEL or ROCPROF_LOG_LEVEL says how much: fatal (nothing), error, warning (the
 * default), info, trace.
 */
#pragma once

/* Numbers are those of face.h. */
enum log_level { LOG_FATAL, LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_TRACE };

/* One message in one write: a line, or, as it is, several.  errno stays as it is. */
void log_lines(enum log_level level, const char *lines);
void log_say(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
