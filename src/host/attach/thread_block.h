/*
 * The made-up thread block of the starter: what a thread of glibc finds at its thread pointer.
 */
#pragma once

#include "host/attach/facts/facts.h"

/* Writes the image of the region's data part into the job: start words, context, and for the thread
 * way the thread block with every library's static TLS. */
int image_build(const struct target *target, const struct modules *modules,
		const struct facts *facts, struct job *job, struct err *err) MUST_CHECK;

/* The same for an existing region: context only. */
void image_build_again(const struct target *target, const struct facts *facts,
		       const struct boot_context *old, struct job *job);
