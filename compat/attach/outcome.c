/*
 * From limpet's errors, which distinguish more, to the seven statuses.
 */
#include "outcome.h"

#include "host/core/err.h"
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

rocattach_status_t outcome_set(struct outcome *outcome, rocattach_status_t status,
			       const char *format, ...)
{
	va_list arguments;

	outcome->status = status;
	va_start(arguments, format);
	vsnprintf(outcome->message, sizeof(outcome->message), format, arguments);
	va_end(arguments);
	return status;
}

/* Errors without a kind of their own are classified by their number: a tool that is no file or no
 * library is an invalid argument. */
static rocattach_status_t status_of_code(int code)
{
	switch (-code) {
	case EINVAL:
	case ENOENT:
	case ENOEXEC:
	case ENOTDIR:
	case EISDIR:
	case E2BIG:
	case EALREADY:
		return ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT;
	case ESRCH:
		return ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND;
	default:
		return ROCATTACH_STATUS_ERROR;
	}
}

static rocattach_status_t status_of(const struct limpet_error *error)
{
	switch (error->exit_code) {
	case EXIT_USAGE:
		return ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT;
	case EXIT_NOT_PERMITTED:
		return ROCATTACH_STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED;
	case EXIT_NO_PROCESS:
		return ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND;
	case EXIT_NOT_ATTACHABLE:
		return ROCATTACH_STATUS_ERROR_NOT_SUPPORTED;
	case EXIT_BUSY:
		return ROCATTACH_STATUS_ERROR_PTRACE_ERROR;
	default:
		return status_of_code(error->code);
	}
}

/* Adds lines with a label for the first and one for the others, as the command line shows them. */
static void add_lines(struct outcome *outcome, const char *first, const char *further,
		      const char *lines)
{
	const char *label = first;

	while (*lines) {
		size_t used = strlen(outcome->message), length = strcspn(lines, "\n");

		snprintf(outcome->message + used, sizeof(outcome->message) - used, "\n  %s: %.*s",
			 label, (int)length, lines);
		lines += length + (lines[length] == '\n');
		label = further;
	}
}

rocattach_status_t outcome_set_error(struct outcome *outcome, const struct limpet_error *error)
{
	outcome_set(outcome, status_of(error), "%s", error->what);
	add_lines(outcome, "why", "   ", error->why);
	add_lines(outcome, "fix", "or ", error->fix);
	return outcome->status;
}

rocattach_status_t outcome_tell(const struct outcome *outcome)
{
	if (outcome->status)
		log_lines(LOG_ERROR, outcome->message);
	return outcome->status;
}

/* The environment is read each time: a caller may change it. */
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
