/*
 * Prints how stacks ended.
 */
#include "host/cli/stack_ends.h"

#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/samples/samples.h"
#include "host/model/statistics.h"
#include "host/sampling/sampler.h"

#include <inttypes.h>

static bool is_reason(const uint64_t ends[STACK_ENDS], unsigned end)
{
	return end != STACK_COMPLETE && ends[end];
}

void stack_ends_print(const char *head, const uint64_t ends[STACK_ENDS], uint64_t count,
		      uint64_t at_most)
{
	for (unsigned i = 0; i < STACK_ENDS; i++)
		if (is_reason(ends, i) && ends[i] <= at_most)
			print(stdout, "%s: %" PRIu64 " stack%s (%.2f %%): %s\n  fix: %s\n", head,
			      ends[i], plural(ends[i]), (double)share_of(ends[i], count) / 100,
			      stack_end_name(i), stack_end_fix(i));
}

void stack_ends_write(struct json *json, const uint64_t ends[STACK_ENDS])
{
	json_object(json, "stacks");
	for (unsigned i = 0; i < STACK_ENDS; i++)
		json_number(json, stack_end_key(i), ends[i]);
	json_object_end(json);
	json_list(json, "incomplete_stacks");
	for (unsigned i = 0; i < STACK_ENDS; i++) {
		if (!is_reason(ends, i))
			continue;
		json_object(json, NULL);
		json_text(json, "end", stack_end_key(i));
		json_number(json, "stacks", ends[i]);
		json_text(json, "reason", stack_end_name(i));
		json_text(json, "fix", stack_end_fix(i));
		json_object_end(json);
	}
	json_list_end(json);
}
