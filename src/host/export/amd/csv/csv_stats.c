/*
 * PREFIX_hip_api_stats.csv and so on, and PREFIX_domain_stats.csv.
 */
#include "host/export/amd/csv/csv_parts.h"

#include "host/export/exporter.h"
#include "host/export/values.h"

static const char stats_header[] = "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\","
				   "\"Percentage\",\"MinNs\",\"MaxNs\",\"StdDev\"\n";

/* As AMD's formatter has it: small numbers with an exponent. */
static void put_fraction(FILE *out, double number)
{
	fprintf(out, number > 0.01 ? ",%.6f" : ",%.8e", number);
}

static void put_percentage(FILE *out, double number)
{
	if (number >= 1)
		fprintf(out, ",%.2f", number);
	else
		fprintf(out, number > 0.01 ? ",%.4f" : ",%.3e", number);
}

static void put_stats_row(FILE *out, const char *name, const struct statistics *statistics,
			  uint64_t whole_ns)
{
	export_quoted(out, name);
	csv_number(out, statistics->calls);
	csv_number(out, statistics->total_ns);
	put_fraction(out, statistics->mean_ns);
	put_percentage(out, whole_ns ? 100.0 * (double)statistics->total_ns / (double)whole_ns : 0);
	csv_number(out, statistics->least_ns);
	csv_number(out, statistics->most_ns);
	put_fraction(out, statistics_sample_deviation_ns(statistics));
	fputc('\n', out);
}

static int write_domain(struct csv_set *set, enum amd_domain domain)
{
	const struct amd_stats *stats = set->options->stats;
	struct output_file *file = &set->stats[domain];
	int r;

	if (!stats->domains[domain].calls)
		return 0;
	r = csv_open(set, file, amd_domains[domain].stats_file, stats_header);
	for (size_t i = stats->first[domain]; !r && i < stats->first[domain + 1]; i++)
		put_stats_row(file->out, stats->rows[i].name, &stats->rows[i].statistics,
			      stats->domains[domain].total_ns);
	return r;
}

static int write_domains(struct csv_set *set)
{
	const struct amd_stats *stats = set->options->stats;
	uint64_t whole_ns = 0;
	int r;

	for (unsigned domain = 0; domain < AMD_DOMAINS; domain++)
		whole_ns += stats->domains[domain].total_ns;
	r = csv_open(set, &set->domain_stats, "domain_stats", stats_header);
	for (unsigned domain = 0; !r && domain < AMD_DOMAINS; domain++)
		if (stats->domains[domain].calls)
			put_stats_row(set->domain_stats.out, amd_domains[domain].column,
				      &stats->domains[domain], whole_ns);
	return r;
}

int csv_stats(struct csv_set *set)
{
	int r = 0;

	if (!set->options->stats || !set->options->stats->events)
		return 0;
	for (unsigned domain = 0; !r && domain < AMD_DOMAINS; domain++)
		r = write_domain(set, domain);
	return r ? r : write_domains(set);
}
