/*
 * The messages of limpet push.
 */
#include "host/cli/push/push_text.h"

#include "host/core/text/json.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static void reasons_tell(const char *reasons)
{
	struct text rest = text_of(reasons), line;

	while (text_take_line(&rest, &line))
		print(stderr, "note: %.*s\n", (int)(line.end - line.at), line.at);
}

void push_text_begun(const struct push_text *self, const struct push_address *address,
		     const struct sampling_options *sampling, const struct source_facts *facts)
{
	struct json json = { .out = stdout };

	reasons_tell(facts->reasons);
	if (!self->is_json) {
		print(stdout, "pushing to %s: %u sample%s a second, sampler %s\n", address->url,
		      sampling->sampler.hz, plural(sampling->sampler.hz), facts->sampler);
		fflush(stdout);
		return;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "pushing");
	json_text(&json, "url", address->url);
	json_number(&json, "hz", sampling->sampler.hz);
	json_text(&json, "sampler", facts->sampler);
	json_object_end(&json);
}

static void trouble_print(const struct sender_totals *totals)
{
	const struct err *trouble = &totals->trouble;

	print(stderr, "warning: %s%s%s", trouble->what, trouble->why[0] ? ": " : "", trouble->why);
	if (totals->waiting.pushes)
		print(stderr, "; %" PRIu64 " profile%s wait%s for the next try",
		      totals->waiting.pushes, plural(totals->waiting.pushes),
		      totals->waiting.pushes == 1 ? "s" : "");
	print(stderr, "\n");
}

static void trouble_write(const struct sender_totals *totals)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_text(&json, "event", "trouble");
	json_text(&json, "error", totals->trouble.what);
	json_text(&json, "why", totals->trouble.why);
	json_number(&json, "waiting", totals->waiting.pushes);
	json_object_end(&json);
}

/* Once for each kind of trouble; for refused pushes, each time there are more. */
void push_text_trouble(struct push_text *self, const struct sender_totals *totals)
{
	bool is_new =
		totals->trouble.code != self->trouble || totals->refused.pushes != self->refused;

	if (is_new && totals->trouble.code && self->is_json)
		trouble_write(totals);
	else if (is_new && totals->trouble.code)
		trouble_print(totals);
	else if (is_new && self->trouble)
		print(stderr, "note: the server answers again\n");
	self->trouble = totals->trouble.code;
	self->refused = totals->refused.pushes;
}

static void count_write(struct json *json, const char *key, const struct push_count *count)
{
	json_object(json, key);
	json_number(json, "profiles", count->pushes);
	json_number(json, "samples", count->samples);
	json_object_end(json);
}

static void count_print(const char *what, const struct push_count *count)
{
	if (count->pushes)
		print(stdout, "%s: %" PRIu64 " profile%s with %" PRIu64 " sample%s\n", what,
		      count->pushes, plural(count->pushes), count->samples, plural(count->samples));
}

void push_text_end(const struct push_text *self, const struct push_result *result)
{
	struct json json = { .out = stdout };

	if (!self->is_json) {
		count_print("pushed", &result->sent.sent);
		count_print("refused by the server", &result->sent.refused);
		count_print("sent, and no answer says whether they were taken",
			    &result->sent.unclear);
		count_print("lost, the server was away for too long", &result->sent.lost);
		if (result->collected.lost + result->collected.missed)
			print(stdout, "lost before they were in a profile: %" PRIu64 " samples\n",
			      result->collected.lost + result->collected.missed);
		return;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "totals");
	count_write(&json, "pushed", &result->sent.sent);
	count_write(&json, "refused", &result->sent.refused);
	count_write(&json, "unclear", &result->sent.unclear);
	count_write(&json, "lost", &result->sent.lost);
	json_number(&json, "samples_lost", result->collected.lost);
	json_number(&json, "samples_missed", result->collected.missed);
	json_object_end(&json);
}

static int nothing_explain(const struct push_result *result, struct err *err)
{
	if (!result->collected.collected) {
		err_set(err, -ENODATA, "no sample was taken");
		err_why(err, "no thread ran for a whole sampling interval");
		err_fix(err, "push for longer, or with a higher rate (-F), or with --off-cpu");
		return err_exit(err, EXIT_NOTHING_CAPTURED);
	}
	*err = result->sent.trouble;
	if (!err->code)
		err_set(err, -ETIMEDOUT, "nothing was pushed");
	err_fix(err, "check that a store of profiles listens there: curl -v URL");
	return err->code;
}

int push_result_judge(const struct push_result *result, struct err *err)
{
	const struct sender_totals *sent = &result->sent;
	uint64_t missing = sent->lost.pushes + sent->refused.pushes + sent->unclear.pushes;

	if (!sent->sent.pushes)
		return nothing_explain(result, err);
	if (!missing)
		return 0;
	err_set(err, -EIO, "%" PRIu64 " of %" PRIu64 " profiles were not%s pushed", missing,
		missing + sent->sent.pushes,
		missing == sent->unclear.pushes ? ", as far as is known," : "");
	if (sent->trouble.code)
		err_why(err, "%s", sent->trouble.what);
	return err_exit(err, EXIT_PARTLY);
}
