/*
 * Messages as texts of one or several lines.
 */
#include "host/rocprofv3/listener.h"

#include "host/core/text/print.h"
#include "host/core/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void listener_say(const struct job_listener *listener, enum say_level level, const char *format,
		  ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	print_list(text, sizeof(text), format, arguments);
	va_end(arguments);
	listener->say(listener->context, level, text);
}

static void add_lines(char *text, size_t room, const char *first, const char *lines)
{
	struct text rest = text_of(lines), line;
	const char *label = first;

	while (text_take_line(&rest, &line)) {
		size_t used = strlen(text);

		snprintf(text + used, room - used, "\n  %s: %.*s", label, (int)(line.end - line.at),
			 line.at);
		label = "or ";
	}
}

void listener_say_error(const struct job_listener *listener, enum say_level level,
			const struct err *err)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s", err->what);
	add_lines(text, sizeof(text), "why", err->why);
	add_lines(text, sizeof(text), "fix", err->fix);
	listener->say(listener->context, level, text);
}
