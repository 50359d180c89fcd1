/*
 * Builds the error object of err.h; no allocation, so it works when memory is short.
 */
#include "host/core/err.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "host/core/text/print.h"
#include "host/core/text/text.h"

#define LONGEST 1024

/* Cuts a long text after a word. */
static void err_put(char *ret, size_t room, const char *format, va_list args)
{
	char text[LONGEST];

	print_list(text, sizeof(text), format, args);
	text_shorten(text, room - 1);
	memcpy(ret, text, strlen(text) + 1);
}

static void err_begin(struct err *err, int code, enum exit_code exit)
{
	memset(err, 0, sizeof(*err));
	err->code = code;
	err->exit = exit;
}

int err_set(struct err *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	err_begin(err, code, EXIT_FAILED);
	va_start(args, format);
	err_put(err->what, sizeof(err->what), format, args);
	va_end(args);
	return code;
}

int err_usage(struct err *err, const char *fix, const char *format, ...)
{
	va_list args;

	err_begin(err, -EINVAL, EXIT_USAGE);
	va_start(args, format);
	err_put(err->what, sizeof(err->what), format, args);
	va_end(args);
	return fix ? err_fix(err, "%s", fix) : err->code;
}

int err_while(struct err *err, const char *format, ...)
{
	char prefix[sizeof(err->what)], whole[2 * sizeof(err->what) + 2];
	va_list args;

	va_start(args, format);
	err_put(prefix, sizeof(prefix), format, args);
	va_end(args);
	print_into(whole, sizeof(whole), "%s: %s", prefix, err->what);
	text_shorten(whole, sizeof(err->what) - 1);
	memcpy(err->what, whole, strlen(whole) + 1);
	return err->code;
}

int err_why(struct err *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	err_put(err->why, sizeof(err->why), format, args);
	va_end(args);
	return err->code;
}

int err_fix(struct err *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	err_put(err->fix, sizeof(err->fix), format, args);
	va_end(args);
	return err->code;
}

int err_exit(struct err *err, enum exit_code exit)
{
	err->exit = exit;
	return err->code;
}
