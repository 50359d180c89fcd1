/*
 * Whether the tracer may be unloaded: the reasons why not, which the agent keeps for limpet to
 * tell.
 */
#pragma once

#include "target/domains/request.h"
#include "target/hooks/patches.h"

/* Before the first word is hooked. */
void staying_judge_request(const struct trace_request *request);

/* When words were put back; modules are still known. */
void staying_judge_words(const struct patches_left *left);
