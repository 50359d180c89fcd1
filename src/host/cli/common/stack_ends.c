/*
 * Prints how stacks ended.
 */
#include "host/cli/common/stack_ends.h"

#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/samples/samples.h"
#include "host/model/statistics.h"
#include "host/sampling/sampler.h"

/* Whether stacks are incomplete for this reason; its share of all in percent, and the fix. */
static bool find_reason(const struct stack_ends *ends, unsigned end, double *ret_share,
			const char **ret_fix)
{
	if (end == STACK_COMPLETE || !ends->counts[end])
		return false;
	*ret_share = share_percent(ends->counts[end], ends->count);
	*ret_fix = stack_end_fix(end, ends->sampler, ends->is_system_wide);
	return true;
}

void stack_ends_print(const char *head, const struct stack_ends *ends, uint64_t at_most)
{
	const char *fix;
	double share;

	for (unsigned i = 0; i < STACK_ENDS; i++)
		if (find_reason(ends, i, &share, &fix) && ends->counts[i] <= at_most)
			print(stdout, "%s: %lu stack%s (%.2f %%): %s\n  fix: %s\n", head,
			      ends->counts[i], plural(ends->counts[i]), share, stack_end_name(i),
			      fix);
}

void stack_ends_warn(const struct stack_ends *ends)
{
	const char *fix;
	double share;

	for (unsigned i = 0; i < STACK_ENDS; i++)
		if (find_reason(ends, i, &share, &fix) &&
		    ends->counts[i] > ends->count / STACK_ENDS_WARN)
			print(stderr,
			      "warning: %lu stack%s (%.2f %%) %s incomplete: %s\n  fix: %s\n",
			      ends->counts[i], plural(ends->counts[i]), share,
			      is_are(ends->counts[i]), stack_end_name(i), fix);
}

void stack_ends_write(struct json *json, const struct stack_ends *ends)
{
	const char *fix;
	double share;

	json_object(json, "stacks");
	for (unsigned i = 0; i < STACK_ENDS; i++)
		json_number(json, stack_end_key(i), ends->counts[i]);
	json_object_end(json);
	json_list(json, "incomplete_stacks");
	for (unsigned i = 0; i < STACK_ENDS; i++) {
		if (!find_reason(ends, i, &share, &fix))
			continue;
		json_object(json, NULL);
		json_text(json, "end", stack_end_key(i));
		json_number(json, "stacks", ends->counts[i]);
		json_text(json, "reason", stack_end_name(i));
		json_text(json, "fix", fix);
		json_object_end(json);
	}
	json_list_end(json);
}
