/*
 * --collection-period DELAY:TIME:REPEAT: wait, record, and again.
 */
#pragma once

#include "host/core/err.h"
#include "host/recorder/period.h"

/* Without a text: PERIOD_ALWAYS. */
int period_parse(const char *text, struct period *ret, struct err *err) MUST_CHECK;
