/*
 * What several formats have: the values of a call, its stack, the totals of a recording.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/model/model.h"

/* The values of a call as members of a JSON object: addresses as text in hexadecimal, results
 * signed; then "text", "unfinished" and "stack" where there are. */
void values_write(struct json *json, const struct call *call);

/* Its call stack, as a list of texts. */
void frames_write(struct json *json, const char *key, const struct call *call);

/* Totals of a model: calls, records, dropped, complete. */
void totals_write(struct json *json, const struct model *model);

/* A field of csv: between quotes, as FOREIGN_CSV (foreign.h). */
void export_quoted(FILE *out, const char *text);

/* The stack of a call on one line, outermost last; "" when it has none. */
#define EXPORT_STACK_MAX 16384u
void export_stack(const struct call *call, char *ret, size_t room);
