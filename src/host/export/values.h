/*
 * The values of a call as members of a JSON object.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/model/model.h"

/* Addresses as text in hexadecimal, results signed; then "text", "unfinished" and "stack" where
 * there are. */
void values_write(struct json *json, const struct call *call);

/* Its call stack, as a list of texts. */
void frames_write(struct json *json, const char *key, const struct call *call);

/* Totals of a model: calls, records, dropped, complete. */
void totals_write(struct json *json, const struct model *model);
