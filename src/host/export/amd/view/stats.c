/*
 * Adds up.
 */
#include "host/export/amd/view/stats.h"

#include "shared/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int event_add(const struct amd_event *event, void *context)
{
	uint64_t duration_ns = event->call->end_ns - event->call->begin_ns;
	struct amd_stats *stats = context;
	struct amd_stats_row *row = row_find(
		&stats->by_name,
		(struct row_key){ event->domain, hash_bytes(event->name, strlen(event->name)) },
		&stats->rows, &stats->count, sizeof(*row));

	if (row && !row->name)
		*row = (struct amd_stats_row){ .domain = event->domain,
					       .name = strdup(event->name) };
	if (!row || !row->name)
		return -ENOMEM;
	statistics_add(&row->statistics, duration_ns);
	statistics_add(&stats->domains[event->domain], duration_ns);
	stats->events++;
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct amd_stats_row *a = left, *b = right;
	int order = statistics_by_time(&a->statistics, &b->statistics);

	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	return order ? order : strcmp(a->name, b->name);
}

int amd_stats_init(struct amd_stats *ret, struct amd_view *view)
{
	size_t row = 0;
	int r;

	*ret = (struct amd_stats){ 0 };
	r = amd_each_event(view, event_add, ret);
	if (!r)
		rows_sort(ret->rows, ret->count, sizeof(*ret->rows), by_time);
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
	table_done(&stats->by_name.numbers);
	*stats = (struct amd_stats){ 0 };
}
