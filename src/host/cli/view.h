/*
 * --view: which samples.
 */
#pragma once

#include "host/core/err.h"
#include "host/model/profile.h"

/* 0 for none; exit code EXIT_USAGE when there is no such view. */
int view_find(const char *name, unsigned *ret_kinds, struct err *err) MUST_CHECK;

/* A recording of samples that has none of these is no success: -ENODATA with the exit code for it.
 */
int view_check(const struct samples *samples, const char *path, unsigned kinds,
	       struct err *err) MUST_CHECK;
