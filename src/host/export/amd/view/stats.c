/*
 * Adds up.
 */
#include "host/export/amd/view/stats.h"
#include "shared/base/hash.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct amd_stats_row *add_row(struct amd_stats *stats, const struct amd_event *event)
{
	struct amd_stats_row *row;

	if (make_room(&stats->rows, stats->count, &stats->room, sizeof(*stats->rows)))
		return NULL;
	row = &stats->rows[stats->count];
	*row = (struct amd_stats_row){ .domain = event->domain, .name = strdup(event->name) };
	stats->count += row->name != NULL;
	return row->name ? row : NULL;
}

static struct amd_stats_row *find_row(struct amd_stats *stats, const struct amd_event *event)
{
	bool is_new;
	struct table_entry *entry =
		table_make(&stats->by_name, event->domain,
			   hash_bytes(event->name, strlen(event->name)), &is_new);

	if (!entry)
		return NULL;
	if (is_new) {
		if (!add_row(stats, event))
			return NULL;
		entry->value = stats->count;
	}
	return entry->value ? &stats->rows[entry->value - 1] : NULL;
}

static int amd_stats_take(const struct amd_event *event, void *context)
{
	uint64_t duration_ns = event->call->end_ns - event->call->begin_ns;
	struct amd_stats *stats = context;
	struct amd_stats_row *row = find_row(stats, event);

	if (!row)
		return -ENOMEM;
	statistics_add(&row->statistics, duration_ns);
	statistics_add(&stats->domains[event->domain], duration_ns);
	stats->events++;
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct amd_stats_row *a = left, *b = right;

	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	if (a->statistics.total_ns != b->statistics.total_ns)
		return a->statistics.total_ns > b->statistics.total_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

int amd_stats_init(struct amd_stats *ret, struct amd_view *view)
{
	size_t row = 0;
	int r;

	*ret = (struct amd_stats){ 0 };
	r = amd_each_event(view, amd_stats_take, ret);
	if (!r && ret->count)
		qsort(ret->rows, ret->count, sizeof(*ret->rows), by_time);
	for (unsigned domain = 0; domain <= AMD_DOMAINS; domain++) {
		while (row < ret->count && ret->rows[row].domain < domain)
			row++;
		ret->first[domain] = row;
	}
	return r;
}

void amd_stats_done(struct amd_stats *stats)
{
	for (size_t i = 0; i < stats->count; i++)
		free(stats->rows[i].name);
	free(stats->rows);
	table_done(&stats->by_name);
	*stats = (struct amd_stats){ 0 };
}
