/*
 * Prints the counters of devices.
 */
#include "host/cli/stat/devices.h"

#include "host/cli/version.h"
#include "host/core/cleanup.h"

#include <stdlib.h>

int stat_devices_start(struct counter_watch **ret, struct counter_choice *choice, pid_t pid,
		       struct err *err)
{
	choice->options.events = NULL; /* they are counted beside it */
	return counter_watch_start(ret, choice, pid, LIMPET_VERSION, err);
}

bool stat_devices_have_counts(struct counter_watch *devices)
{
	size_t count;
	CLEANUP(free) struct watched_counter *rows = counter_watch_look(devices, &count);
	bool have_counts = false;

	for (size_t i = 0; i < count; i++)
		have_counts |= rows[i].all.time_ns > 0;
	return have_counts;
}

static struct stat_device_count count_of(const struct watched_counter *row, bool is_interval)
{
	const struct counter_total *total = is_interval ? &row->interval : &row->all;
	struct stat_device_count count = { .name = row->name,
					   .device = row->subject,
					   .unit = row->is_level ? row->unit : "",
					   .is_level = row->is_level };

	count.has_value = counter_total_rate(row, total, &count.rate);
	count.value = row->is_level ? count.rate : total->sum;
	return count;
}

void stat_visit_devices(const struct stat_view *view, const struct stat_span *span,
			stat_device_visitor *visit)
{
	size_t count = 0;
	CLEANUP(free)
	struct watched_counter *rows =
		view->devices ? counter_watch_look(view->devices, &count) : NULL;

	for (size_t i = 0; i < count; i++) {
		struct stat_device_count shown = count_of(&rows[i], span->is_interval);

		visit(&shown, span);
	}
}
