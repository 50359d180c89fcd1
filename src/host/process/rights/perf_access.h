/*
 * Which users may use perf events, and why the kernel refused.
 */
#pragma once

#include "host/core/err.h"

/* kernel.perf_event_paranoid; INT_MAX where it cannot be read. */
int perf_access_level(void);

/* Turns the answer of perf_event_open(), a negative errno, into the error; returns it. */
int perf_access_explain(int code, struct err *err);
