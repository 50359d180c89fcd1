/*
 * What `limpet doctor` finds, for an object that somebody else writes.
 */
#pragma once

#include "host/core/text/json.h"

#include <sys/types.h>

/* The members "machine", "features" and "sampling"; pid 0: sampling is tried out on ourselves. */
void doctor_write_members(struct json *json, pid_t pid);
