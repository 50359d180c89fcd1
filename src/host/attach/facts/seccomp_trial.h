/*
 * Where the target's filters cannot be read but are limpet's own too (same container): try them.
 */
#pragma once

#include "host/attach/target.h"

/* True when limpet runs under as many filters, in the same namespaces, and a throw-away child
 * survived the calls that attaching needs. */
bool seccomp_trial_passes(const struct target *target);
