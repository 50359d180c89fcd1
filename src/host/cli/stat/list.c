/*
 * limpet stat --list: each event is tried on limpet itself.
 */
#include "host/cli/stat/writer.h"
#include "host/core/json.h"
#include "host/core/print.h"

#include <unistd.h>

struct event_listing {
	bool is_json;
	struct counter_machine machine;
};

static void listing_print(const struct event_listing *self, const char *name,
			  const struct counter_reason *reason)
{
	struct json json = { .out = stdout };

	if (!self->is_json) {
		print(stdout, "  %-28s %s\n", name, reason->why[0] ? reason->why : "yes");
		return;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "countable");
	json_text(&json, "name", name);
	json_bool(&json, "supported", !reason->why[0]);
	json_text(&json, "why", reason->why);
	json_text(&json, "fix", reason->fix);
	json_object_end(&json);
}

static void listing_try(const char *name, void *context)
{
	const struct event_listing *self = context;
	const struct count counted = { .status = COUNT_COUNTED, .share = 1 };
	struct counter_events events = { 0 };
	struct counter_reason reason = { 0 };
	struct counter_set set;
	struct err err = { 0 };

	if (counter_events_parse(&events, name, &counter_sources_system, &err))
		return;
	counter_set_init(&set, &events, HEIRS_NONE);
	if (counter_set_add(&set, getpid(), getpid(), &err))
		print_into(reason.why, sizeof(reason.why), "%s", err.what);
	else
		counter_reason_find(&events.items[0], &set.answers[0], &counted, &self->machine,
				    &reason);
	listing_print(self, name, &reason);
	counter_set_done(&set);
}

void stat_list(bool is_json)
{
	struct event_listing listing = { .is_json = is_json };

	counter_machine_read(&listing.machine);
	if (!is_json)
		print(stdout, "events, and whether this machine counts them:\n");
	counter_names_visit(&counter_sources_system, listing_try, &listing);
	if (!is_json)
		print(stdout, "also: rHEX, PMU/TERM=VALUE,.../, SUBSYSTEM:TRACEPOINT; behind them "
			      ":u (user mode), :k (kernel)\n");
}
