/*
 * Levels and their names.  The environment is read each time: a caller may change it.
 */
#include "log.h"

#include "host/core/text/foreign.h"
#include "host/core/text/print.h"
#include "shared/base/macros.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static enum log_level level_wanted(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(level_variables); i++) {
		const char *name = secure_getenv(level_variables[i]);

		if (!name || !*name)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(level_names); k++)
			if (!strcasecmp(name, level_names[k]))
				return (enum log_level)k;
		break;
	}
	return LOG_WARNING;
}

void log_lines(enum log_level level, const char *lines)
{
	char text[2048];
	int saved = errno;
	size_t length;

	if (level > level_wanted())
		return;
	snprintf(text, sizeof(text) - 1, "rocattach: %s: %s", level_names[level], lines);
	foreign_clean(text, "\n");
	length = strlen(text);
	text[length] = '\n';
	/* After a short count, or with stderr closed, the error cannot be reported. */
	(void)!write(STDERR_FILENO, text, length + 1);
	errno = saved;
}

void log_say(enum log_level level, const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	print_list(text, sizeof(text), format, arguments);
	va_end(arguments);
	log_lines(level, text);
}
