/*
 * The processes besides the first one that exist when sampling begins.
 */
#pragma once

#include "host/sampling/sampler.h"

/* 1: it is new; 0: it is sampled already; negative: it cannot be sampled, see err. */
typedef int family_joiner(struct sampler *sampler, pid_t pid, struct err *err);

/* Joins the further processes of the options, each of which must succeed, and with children their
 * descendants and those of the first. */
int family_join_all(struct sampler *sampler, const struct sampler_options *options,
		    family_joiner *join, struct err *err) MUST_CHECK;

/* Joins each descendant, until no new one is found: a child of a sampled process inherits what it
 * needs, others are found in the next round.  sampler->limits names those that cannot be joined. */
int family_join(struct sampler *sampler, pid_t root, family_joiner *join,
		struct err *err) MUST_CHECK;
