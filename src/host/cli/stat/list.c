/*
 * limpet stat --list: tries each event on limpet itself; then lists the counters of AMD's devices,
 * which rocprofv3 --pmc collects; or, with --pm, those of NVIDIA's.
 */
#include "host/cli/stat/writer.h"
#include "host/core/text/json.h"
#include "host/core/text/print.h"
#include "host/counters/amd/devices.h"
#include "host/recorder/windows/gpu_helper.h"

#include <string.h>
#include <unistd.h>

struct event_listing {
	bool is_json;
	char last[192]; /* reason */
	struct counter_machine machine;
};

static void listing_try(const char *name, void *context)
{
	struct event_listing *self = context;
	const struct count counted = { .status = COUNT_COUNTED, .share = 1 };
	struct counter_events events = { 0 };
	struct counter_reason reason = { 0 };
	struct counter_set set;
	struct err err = { 0 };
	struct json json;

	if (counter_events_parse(&events, name, &counter_sources_system, &err))
		return;
	counter_set_init(&set, &events, HEIRS_NONE);
	if (counter_set_add(&set, getpid(), getpid(), &err))
		print_into(reason.why, sizeof(reason.why), "%s", err.what);
	else
		counter_reason_find(&events.items[0], &set.answers[0], &counted, &self->machine,
				    &reason);
	counter_set_done(&set);
	if (self->is_json) {
		json = json_event(stdout, "countable");
		json_text(&json, "name", name);
		json_bool(&json, "supported", !reason.why[0]);
		json_text(&json, "why", reason.why);
		json_text(&json, "fix", reason.fix);
		json_object_end(&json);
	} else if (!reason.why[0]) {
		print(stdout, "  %-28s yes\n", name);
	} else { /* each reason is printed once */
		print(stdout, "  %-28s no: %s\n", name,
		      strcmp(self->last, reason.why) ? reason.why : "as above");
	}
	memcpy(self->last, reason.why, sizeof(self->last));
}

static void device_print_text(unsigned node, const struct amd_counter *counter, void *context)
{
	(void)context;
	print(stdout, "  %-28s device %u, %s %s\n", counter->name, node,
	      counter->block ? "block" : "=",
	      counter->block ? counter->block : counter->expression);
}

static void device_print_json(unsigned node, const struct amd_counter *counter, void *context)
{
	struct json json = json_event(stdout, "device-counter");

	(void)context;
	json_number(&json, "device", node);
	json_text(&json, "architecture", counter->architecture);
	json_text(&json, "name", counter->name);
	json_text(&json, "description", counter->description);
	json_text(&json, "block", counter->block ? counter->block : "");
	json_text(&json, "expression", counter->expression ? counter->expression : "");
	json_object_end(&json);
}

void stat_list(bool is_json)
{
	struct event_listing listing = { .is_json = is_json };
	struct err err;
	int r;

	counter_machine_read(&listing.machine);
	if (!is_json)
		print(stdout, "events, and whether this machine counts them:\n");
	counter_names_visit(&counter_sources_system, listing_try, &listing);
	if (!is_json)
		print(stdout, "also: rHEX, PMU/TERM=VALUE,.../, SUBSYSTEM:TRACEPOINT; behind them "
			      ":u (user mode), :k (kernel)\n"
			      "counters of AMD's devices (rocprofv3 --pmc):\n");
	r = amd_counters_visit(/* folder */ NULL, is_json ? device_print_json : device_print_text,
			       NULL, &err);
	/* A machine without such devices is no failure. */
	if (r && !is_json)
		print(stdout, "  none: %s\n", err.what);
}

static int metric_print(void *is_json, const struct gpu_message *message, struct err *err)
{
	struct json json;

	(void)err;
	if (message->kind != GPU_COUNTED)
		return 0;
	if (!*(bool *)is_json) {
		print(stdout, "  %-60s %s\n", message->text, message->more);
		return 0;
	}
	json = json_event(stdout, "device-metric");
	json_text(&json, "name", message->text);
	json_text(&json, "description", message->more);
	json_object_end(&json);
	return 0;
}

int stat_list_pm(bool is_json, struct err *err)
{
	if (!is_json)
		print(stdout, "metrics that PM sampling has of the first GPU; behind them .avg, "
			      ".max, .min, .sum and what of it, as ncu names them:\n");
	return gpu_metrics_list(metric_print, &is_json, err);
}
