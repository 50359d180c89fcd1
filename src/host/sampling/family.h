/*
 * The processes beside the first one that are there when sampling begins.
 */
#pragma once

#include "host/sampling/sampler.h"

/* 1: it was new; 0: it is sampled already; negative: it cannot be, as err says. */
typedef int family_joiner(struct sampler *sampler, pid_t pid, struct err *err);

/* Joins the further processes of the options, each or it fails, and where children are wanted their
 * descendants and those of the first. */
int family_join_all(struct sampler *sampler, const struct sampler_options *options,
		    family_joiner *join, struct err *err) MUST_CHECK;

/* Joins each of them, until no new one is found: whoever is born of one that is sampled already
 * inherits what it needs, others are found at the next look.  Who cannot be joined is told in
 * sampler->limits. */
int family_join(struct sampler *sampler, pid_t root, family_joiner *join,
		struct err *err) MUST_CHECK;
