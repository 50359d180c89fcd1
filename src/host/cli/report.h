/*
 * How a verb ends: the error on stderr for people, the summary on stdout for programs.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/text/json.h"

/* Opens {"event":"summary","verb":...,"exit":...,"error":...,"why":...,"fix":... and leaves it open
 * for further members. */
void report_summary(struct json *json, const char *verb, const struct err *err);

/*
 * The end of a verb: the error (when err->code is not 0) on stderr and, with is_json, the summary
 * line on stdout. Returns the exit code for main().
 */
enum exit_code report_end(const char *verb, bool is_json, const struct err *err);

/* The error for one operand too many; returns its code. */
int report_surplus(const char *operand, struct err *err);
