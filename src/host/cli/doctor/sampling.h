/*
 * The sampler that a process gets here, found by trying, and in the words of `limpet record` why no
 * better one.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/text/json.h"

#include <stdbool.h>
#include <sys/types.h>

/* For limpet itself: a line of the table of features. */
void doctor_sampling_machine(bool is_json);

/* Of this process. */
void doctor_sampling_process(pid_t pid, bool is_json);

/* The same as a member "sampling" of an open object; pid 0: of this one. */
void doctor_sampling_write(struct json *json, pid_t pid);
