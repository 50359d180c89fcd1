/*
 * Parses kubectl's lists of pods.
 */
#pragma once

#include "host/fleet/engine/engine.h"

/* Adds a node for each, from lines "POD PHASE".  0 or -ENOMEM. */
int kubernetes_pods_apply(struct fleet_plan *plan, const char *pods) MUST_CHECK;
