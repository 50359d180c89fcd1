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

static bool is_reason(const struct stack_ends *ends, unsigned end)
{
	return end != STACK_COMPLETE && ends->counts[end];
}

static const char *find_fix(const struct stack_ends *ends, unsigned end)
{
	return stack_end_fix(end, ends->sampler, ends->is_system_wide);
}

void stack_ends_print(const char *head, const struct stack_ends *ends, uint64_t at_most)
{
	for (unsigned i = 0; i < STACK_ENDS; i++)
		if (is_reason(ends, i) && ends->counts[i] <= at_most)
			print(stdout, "%s: %" PRIu64 " stack%s (%.2f %%): %s\n  fix: %s\n", head,
			      ends->counts[i], plural(ends->counts[i]),
			      (double)share_of(ends->counts[i], ends->count) / 100,
			      stack_end_name(i), find_fix(ends, i));
}

void stack_ends_write(struct json *json, const struct stack_ends *ends)
{
	json_object(json, "stacks");
	for (unsigned i = 0; i < STACK_ENDS; i++)
		json_number(json, stack_end_key(i), ends->counts[i]);
	json_object_end(json);
	json_list(json, "incomplete_stacks");
	for (unsigned i = 0; i < STACK_ENDS; i++) {
		if (!is_reason(ends, i))
			continue;
		json_object(json, NULL);
		json_text(json, "end", stack_end_key(i));
		json_number(json, "stacks", ends->counts[i]);
		json_text(json, "reason", stack_end_name(i));
		json_text(json, "fix", find_fix(ends, i));
		json_object_end(json);
	}
	json_list_end(json);
}
