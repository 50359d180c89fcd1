/*
 * Decides whether the tracer may be unloaded: the agent keeps the reasons against it for limpet.
 */
#pragma once

#include "target/domains/request.h"
#include "target/hooks/patches.h"

/* Before the first entry is hooked. */
void staying_judge_request(const struct trace_request *request);

/* After entries were restored, while modules are still known. */
void staying_judge_words(const struct patches_left *left);
