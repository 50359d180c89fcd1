/*
 * The descendants of a process that are there when sampling begins.
 */
#pragma once

#include "host/sampling/sampler.h"

/* 1: it was new; 0: it is sampled already; negative: it cannot be, as err says. */
typedef int family_joiner(struct sampler *sampler, pid_t pid, struct err *err);

/* Joins each of them, until no new one is found: whoever is born of one that is sampled already
 * inherits what it needs, others are found at the next look.  Who cannot be joined is told in
 * sampler->limits. */
int family_join(struct sampler *sampler, pid_t root, family_joiner *join,
		struct err *err) MUST_CHECK;
