/*
 * Builds the error object of err.h.  Host only; no allocation, so it works when memory is short.
 */
#include "host/core/err.h"

#include <stdarg.h>
#include <string.h>

#include "host/core/print.h"

int err_set(struct err *err, int code, const char *format, ...)
{
	va_list args;

	memset(err, 0, sizeof(*err));
	err->code = code;
	err->exit = EXIT_FAILED;
	va_start(args, format);
	print_list(err->what, sizeof(err->what), format, args);
	va_end(args);
	return code;
}

int err_while(struct err *err, const char *format, ...)
{
	char prefix[sizeof(err->what)], cause[sizeof(err->what)];
	va_list args;

	va_start(args, format);
	print_list(prefix, sizeof(prefix), format, args);
	va_end(args);
	memcpy(cause, err->what, sizeof(cause));
	print_into(err->what, sizeof(err->what), "%s: %s", prefix, cause);
	return err->code;
}

int err_why(struct err *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_list(err->why, sizeof(err->why), format, args);
	va_end(args);
	return err->code;
}

int err_fix(struct err *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_list(err->fix, sizeof(err->fix), format, args);
	va_end(args);
	return err->code;
}

int err_exit(struct err *err, enum exit_code exit)
{
	err->exit = exit;
	return err->code;
}
