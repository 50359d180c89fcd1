/*
 * Adds what `limpet doctor` finds to a JSON object that the caller has opened.
 */
#pragma once

#include "host/core/text/json.h"

#include <sys/types.h>

/* The members "machine", "features" and "sampling"; pid 0: tries sampling on limpet itself. */
void doctor_write_members(struct json *json, pid_t pid);
