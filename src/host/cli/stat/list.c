/*
 * limpet stat --list: each event is tried on limpet itself.
 */
#include "host/cli/stat/writer.h"
#include "host/core/text/json.h"
#include "host/core/text/print.h"

#include <string.h>
#include <unistd.h>

struct event_listing {
	bool is_json;
	char told[192]; /* the last reason */
	struct counter_machine machine;
};

/* The same reason is told once. */
static void listing_print_text(struct event_listing *self, const char *name, const char *why)
{
	if (!why[0])
		print(stdout, "  %-28s yes\n", name);
	else
		print(stdout, "  %-28s no: %s\n", name, strcmp(self->told, why) ? why : "as above");
	print_into(self->told, sizeof(self->told), "%s", why);
}

static void listing_print_json(const char *name, const struct counter_reason *reason)
{
	struct json json = { .out = stdout };

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
	struct event_listing *self = context;
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
	if (self->is_json)
		listing_print_json(name, &reason);
	else
		listing_print_text(self, name, reason.why);
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
