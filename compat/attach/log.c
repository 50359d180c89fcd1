/*
 * Levels and their names.  The environment is asked each time: a caller may change it.
 */
#include "log.h"

#include "shared/base/macros.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

static const char *const level_names[] = { "fatal", "error", "warning", "info", "trace" };

/* The first that is set decides. */
static const char *const level_variables[] = {
	"ROCATTACH_LOG_LEVEL",
	"ROCPROFILER_ATTACH_LOG_LEVEL",
	"ROCPROF_LOG_LEVEL",
	"ROCPROF_LOGGING_LEVEL",
};

static enum log_level level_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(level_names); i++)
		if (!strcasecmp(name, level_names[i]))
			return (enum log_level)i;
	return LOG_WARNING;
}

static enum log_level level_wanted(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(level_variables); i++) {
		const char *name = getenv(level_variables[i]);

		if (name && *name)
			return level_of(name);
	}
	return LOG_WARNING;
}

/* A short count, or a closed stderr, leaves nobody to tell. */
static void put(const char *text, size_t length)
{
	ssize_t written = write(STDERR_FILENO, text, length);

	(void)written;
}

void log_say(enum log_level level, const char *format, ...)
{
	char text[2048];
	int saved = errno, head, length;
	va_list arguments;

	if (level > level_wanted())
		return;
	head = snprintf(text, sizeof(text), "rocattach: %s: ", level_names[level]);
	va_start(arguments, format);
	length = vsnprintf(text + head, sizeof(text) - (size_t)head - 1, format, arguments);
	va_end(arguments);
	if (length >= 0) {
		length += head;
		if (length > (int)sizeof(text) - 2)
			length = (int)sizeof(text) - 2;
		text[length] = '\n';
		put(text, (size_t)length + 1);
	}
	errno = saved;
}
