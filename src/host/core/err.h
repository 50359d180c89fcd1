/*
 * An error for people: what failed, why, and the fix.  Lives on the caller's stack, never
 * allocates.  Only cli/ and the C API show it.
 */
#pragma once

#include "shared/base/macros.h"

/* The exit status of a program; docs/support.md lists them. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_PERMITTED = 3,
	EXIT_NO_PROCESS = 4,
	EXIT_NOTHING_CAPTURED = 5,
	EXIT_NOT_ATTACHABLE = 6,
	EXIT_BUSY = 7,
	EXIT_PARTLY = 8, /* some of several ranks or processes failed */
};

/* Its texts have no control characters except line ends of formats: arguments of %s are foreign. */
struct err {
	int code;            /* negative errno, 0 while unset */
	enum exit_code exit; /* EXIT_FAILED unless err_exit() set another */
	char what[256];      /* "attach to 4711 (redis-server): no permission" */
	char why[320];       /* the cause, may be empty */
	char fix[320];       /* the one command that mends it, may be empty */
};

/* Sets the first cause; returns code, which must be negative.  Does no more without err: functions
 * that read a process accept NULL where the cause is not wanted. */
int err_set(struct err *err, int code, const char *format, ...) PRINTF_LIKE(3, 4);

/* A wrong use of the command line: -EINVAL with EXIT_USAGE.  The fix may be NULL. */
int err_usage(struct err *err, const char *fix, const char *format, ...) PRINTF_LIKE(3, 4);

/* Prefixes the caller's action: "attach to 4711: " + what.  Returns the code. */
int err_while(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Each adds one part to an error that is set, and returns its code. */
int err_why(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);
int err_fix(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);
int err_exit(struct err *err, enum exit_code exit);
