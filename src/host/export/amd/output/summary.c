/*
 * Tables of fixed columns: two of names, as wide as they need to be, and seven of numbers.
 */
#include "host/export/amd/output/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/text/nearest.h"
#include "host/core/text/print.h"

#define NUMBER_WIDTH 15
#define SHARE_WIDTH  13
#define LEAST_NAME   40
#define LEAST_DOMAIN 12

static const struct summary_unit {
	const char *name;
	uint64_t ns;
} units[] = { { "nsec", 1 }, { "usec", 1000 }, { "msec", 1000000 }, { "sec", 1000000000 } };

/* One table being written. */
struct summary_table {
	const struct amd_stats *stats;
	const struct summary_unit *unit;
	const char *indent;
	FILE *out;
	const struct amd_stats_row **rows; /* by total time */
	size_t count;
	uint64_t whole_ns;
	int name_width, domain_width;
};

static void put_centred(FILE *out, const char *text, int width)
{
	int room = MAX(width - (int)strlen(text), 0);

	print(out, " %*s%s%*s |", room / 2, "", text, room - room / 2, "");
}

static void put_head(const struct summary_table *table)
{
	char columns[4][32];
	FILE *out = table->out;

	snprintf(columns[0], sizeof(columns[0]), "DURATION (%s)", table->unit->name);
	snprintf(columns[1], sizeof(columns[1]), "AVERAGE (%s)", table->unit->name);
	snprintf(columns[2], sizeof(columns[2]), "MIN (%s)", table->unit->name);
	snprintf(columns[3], sizeof(columns[3]), "MAX (%s)", table->unit->name);
	print(out, "%s|", table->indent);
	put_centred(out, "NAME", table->name_width);
	put_centred(out, "DOMAIN", table->domain_width);
	put_centred(out, "CALLS", NUMBER_WIDTH);
	put_centred(out, columns[0], NUMBER_WIDTH);
	put_centred(out, columns[1], NUMBER_WIDTH);
	put_centred(out, "PERCENT (INC)", SHARE_WIDTH);
	put_centred(out, columns[2], NUMBER_WIDTH);
	put_centred(out, columns[3], NUMBER_WIDTH);
	put_centred(out, "STDDEV", NUMBER_WIDTH);
	fputc('\n', out);
}

static void put_rule(const struct summary_table *table)
{
	const int widths[] = { table->name_width, table->domain_width, NUMBER_WIDTH,
			       NUMBER_WIDTH,      NUMBER_WIDTH,        SHARE_WIDTH,
			       NUMBER_WIDTH,      NUMBER_WIDTH,        NUMBER_WIDTH };

	print(table->out, "%s|", table->indent);
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		for (int j = 0; j < widths[i] + 2; j++)
			fputc('-', table->out);
		fputc('|', table->out);
	}
	fputc('\n', table->out);
}

/* Nanoseconds as integers, other units in the shortest exact form. */
static void put_time(const struct summary_table *table, uint64_t time_ns)
{
	double value = (double)time_ns / (double)table->unit->ns;
	char text[40];

	if (table->unit->ns == 1) {
		print(table->out, " %*" PRIu64 " |", NUMBER_WIDTH, time_ns);
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	print(table->out, " %*s |", NUMBER_WIDTH, text);
}

static void put_row(const struct summary_table *table, const struct amd_stats_row *row)
{
	const struct statistics *statistics = &row->statistics;
	double unit_ns = (double)table->unit->ns;
	FILE *out = table->out;

	print(out, "%s| %-*s", table->indent, table->name_width, row->name);
	print(out, " | %-*s | %*" PRIu64 " |", table->domain_width, amd_domains[row->domain].column,
	      NUMBER_WIDTH, statistics->calls);
	put_time(table, statistics->total_ns);
	print(out, " %*.3e | %*f |", NUMBER_WIDTH, statistics->mean_ns / unit_ns, SHARE_WIDTH,
	      table->whole_ns ? 100.0 * (double)statistics->total_ns / (double)table->whole_ns
			      : 0.0);
	put_time(table, statistics->least_ns);
	put_time(table, statistics->most_ns);
	print(out, " %*.3e |\n", NUMBER_WIDTH,
	      statistics_sample_deviation_ns(statistics) / unit_ns);
}

static int by_time(const void *left, const void *right)
{
	const struct amd_stats_row *a = *(const struct amd_stats_row *const *)left;
	const struct amd_stats_row *b = *(const struct amd_stats_row *const *)right;

	if (a->statistics.total_ns != b->statistics.total_ns)
		return a->statistics.total_ns > b->statistics.total_ns ? -1 : 1;
	return a < b ? -1 : 1;
}

static void take_domain(struct summary_table *table, enum amd_domain domain)
{
	const struct amd_stats *stats = table->stats;

	for (size_t i = stats->first[domain]; i < stats->first[domain + 1]; i++) {
		table->rows[table->count++] = &stats->rows[i];
		table->whole_ns += stats->rows[i].statistics.total_ns;
		table->name_width = MAX(table->name_width, (int)strlen(stats->rows[i].name));
	}
	if (stats->domains[domain].calls)
		table->domain_width =
			MAX(table->domain_width, (int)strlen(amd_domains[domain].column));
}

/* The table of some domains, a bit each; nothing when nothing happened in them. */
static void put_table(struct summary_table *table, const char *title, uint32_t domains)
{
	table->count = 0;
	table->whole_ns = 0;
	table->name_width = LEAST_NAME;
	table->domain_width = LEAST_DOMAIN;
	for (unsigned domain = 0; domain < AMD_DOMAINS; domain++)
		if (domains >> domain & 1)
			take_domain(table, domain);
	if (!table->count)
		return;
	qsort(table->rows, table->count, sizeof(struct amd_stats_row *), by_time);
	print(table->out, "\n%sROCPROFV3 %s:\n\n", table->indent, title);
	put_head(table);
	put_rule(table);
	for (size_t i = 0; i < table->count; i++)
		put_row(table, table->rows[i]);
	fputc('\n', table->out);
}

static void put_per_domain(struct summary_table *table)
{
	char title[64];

	for (unsigned domain = 0; domain < AMD_DOMAINS; domain++) {
		snprintf(title, sizeof(title), "%s SUMMARY", amd_domains[domain].column);
		put_table(table, title, 1u << domain);
	}
}

static int compile_group(const char *group, regex_t *ret, struct err *err)
{
	CLEANUP(free) char *whole = NULL;
	int code;

	if (asprintf(&whole, "^(%s)$", group) < 0) {
		whole = NULL;
		return err_set(err, -ENOMEM, "summary: no memory");
	}
	code = regcomp(ret, whole, REG_EXTENDED | REG_NOSUB);
	if (!code)
		return 0;
	return err_usage(err, NULL, "invalid regular expression '%s' for a summary", group);
}

int amd_summary_check(const struct amd_summary_options *options, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < options->group_count; i++) {
		regex_t group;

		r = compile_group(options->groups[i], &group, err);
		if (!r)
			regfree(&group);
	}
	return r;
}

/* The domains of a group in which something happened, and "A + B SUMMARY". */
static uint32_t match_group(const struct amd_stats *stats, const regex_t *group, char *title,
			    size_t room)
{
	uint32_t domains = 0;
	size_t length = 0;

	title[0] = '\0';
	for (unsigned domain = 0; domain < AMD_DOMAINS; domain++) {
		const char *column = amd_domains[domain].column;

		if (!stats->domains[domain].calls || regexec(group, column, 0, NULL, 0))
			continue;
		length += (size_t)snprintf(title + length, room - length, "%s%s",
					   domains ? " + " : "", column);
		domains |= 1u << domain;
	}
	snprintf(title + length, room - length, " SUMMARY");
	return domains;
}

static int put_group(struct summary_table *table, const char *group, const char **ret_empty,
		     struct err *err)
{
	char title[AMD_DOMAINS * 32];
	uint32_t domains;
	regex_t expression;
	int r = compile_group(group, &expression, err);

	if (r)
		return r;
	domains = match_group(table->stats, &expression, title, sizeof(title));
	regfree(&expression);
	put_table(table, title, domains);
	if (!domains && !*ret_empty)
		*ret_empty = group;
	return 0;
}

static const struct summary_unit *find_unit(const char *name, struct err *err)
{
	struct nearest nearest = { .wanted = name };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		nearest_offer(&nearest, units[i].name);
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	}
	err_usage(err, NULL, "unknown unit '%s'", name);
	err_fix(err, "-u %s", nearest.best ? nearest.best : "sec, msec, usec or nsec");
	return NULL;
}

static int put_tables(struct summary_table *table, const struct amd_summary_options *options,
		      const char **ret_empty, struct err *err)
{
	int r = 0;

	if (options->is_per_domain)
		put_per_domain(table);
	for (size_t i = 0; !r && i < options->group_count; i++)
		r = put_group(table, options->groups[i], ret_empty, err);
	if (!r && options->is_whole)
		put_table(table, "SUMMARY", UINT32_MAX);
	return r;
}

int amd_summary_write(const struct amd_stats *stats, const struct amd_summary_options *options,
		      FILE *out, const char **ret_empty, struct err *err)
{
	struct summary_table table = { .stats = stats,
				       .indent = options->is_indented ? "    " : "",
				       .out = out };
	int r;

	*ret_empty = NULL;
	table.unit = find_unit(options->unit ? options->unit : "nsec", err);
	if (!table.unit)
		return -EINVAL;
	table.rows = calloc(stats->count + 1, sizeof(struct amd_stats_row *));
	if (!table.rows)
		return err_set(err, -ENOMEM, "summary: no memory");
	r = put_tables(&table, options, ret_empty, err);
	free(table.rows);
	return r;
}
