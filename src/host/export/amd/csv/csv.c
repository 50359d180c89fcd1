/*
 * rocprof-csv: header and texts in quotes, numbers bare, a newline at the end of each line, times
 * in nanoseconds of CLOCK_BOOTTIME.  A quote in a text is written twice.
 */
#include "host/export/amd/csv/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/export/amd/csv/csv_parts.h"
#include "host/export/exporter.h"
#include "host/export/values.h"

/* "PREFIX_suffix.csv" */
static int csv_open(struct csv_set *set, struct output_file *file, const char *suffix,
		    const char *header)
{
	CLEANUP(free) char *path = NULL;
	char pattern[32];
	int r;

	if (asprintf(&path, "%s_%s.csv", set->prefix, suffix) < 0) {
		path = NULL;
		return err_set(set->err, -ENOMEM, "write '%s': no memory", set->prefix);
	}
	snprintf(pattern, sizeof(pattern), "%.20s*", header);
	r = output_open(file, path, set->err);
	if (!r && set->options->keeps_strangers)
		r = output_check_stranger(&file->location, path, pattern, set->err);
	if (!r)
		print_lines(file->out, header);
	return r;
}

static int event_put(const struct amd_event *event, void *context)
{
	struct csv_set *set = context;
	struct output_file *trace = &set->traces[event->domain];
	int r = trace->out ? 0
			   : csv_open(set, trace, amd_domains[event->domain].trace_file,
				      csv_headers[event->domain]);

	if (!r)
		r = csv_rows[event->domain](set, trace->out, event);
	if (r)
		return r;
	fputc('\n', trace->out);
	return export_state(trace->out);
}

/* Before and after the driver's properties. */
static const char *const columns_before[] = { "Node_Id", "Logical_Node_Id", "Agent_Type" };
static const char *const columns_behind[] = {
	"Workgroup_Max_Dim_X",
	"Workgroup_Max_Dim_Y",
	"Workgroup_Max_Dim_Z",
	"Grid_Max_Dim_X",
	"Grid_Max_Dim_Y",
	"Grid_Max_Dim_Z",
	"Name",
	"Vendor_Name",
	"Product_Name",
	"Model_Name",
};
static const enum agent_property listed[] = {
#define PROPERTY(name, text) AGENT_##name,
#define PROPERTY_UNLISTED(name, text)
#include "host/export/amd/view/agent_properties.def"
};

static void put_dimensions(FILE *out, struct agent_dimensions dimensions)
{
	fprintf(out, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32, dimensions.x, dimensions.y, dimensions.z);
}

static void put_agent_row(FILE *out, const struct agent *agent)
{
	const char *const texts[] = { agent->name, agent->vendor, agent->product, agent->model };

	fprintf(out, "%" PRIu64 ",%" PRIu64 ",", agent->number, agent->number);
	export_quoted(out, agent_type(agent));
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		fprintf(out, ",%" PRIu64, agent->properties[listed[i]]);
	put_dimensions(out, agent->workgroup);
	put_dimensions(out, agent->grid);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		fputc(',', out);
		export_quoted(out, texts[i]);
	}
	fputc('\n', out);
}

/* "cpu_cores_count" is "Cpu_Cores_Count" here. */
static void put_property_name(FILE *out, enum agent_property property)
{
	char name[64];

	snprintf(name, sizeof(name), "%s", agent_property_name(property));
	for (size_t i = 0; name[i]; i++)
		if (!i || name[i - 1] == '_')
			name[i] = (char)(name[i] - 'a' + 'A');
	fputc(',', out);
	export_quoted(out, name);
}

static void put_names(FILE *out, const char *const *names, size_t count, bool is_first)
{
	for (size_t i = 0; i < count; i++) {
		if (i || !is_first)
			fputc(',', out);
		export_quoted(out, names[i]);
	}
}

static int open_agent_info(struct csv_set *set)
{
	int r = csv_open(set, &set->agent_info, "agent_info", "");
	FILE *out = set->agent_info.out;

	if (r)
		return r;
	put_names(out, columns_before, ARRAY_SIZE(columns_before), /* is_first */ true);
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		put_property_name(out, listed[i]);
	put_names(out, columns_behind, ARRAY_SIZE(columns_behind), /* is_first */ false);
	fputc('\n', out);
	return 0;
}

static int write_agents(struct csv_set *set)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < set->view->model->process_count; i++)
		for (size_t j = 0; !r && j < set->agents[i].count; j++) {
			r = set->agent_info.out ? 0 : open_agent_info(set);
			if (!r)
				put_agent_row(set->agent_info.out, &set->agents[i].items[j]);
		}
	return r;
}

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

static int write_stats(struct csv_set *set)
{
	int r = 0;

	if (!set->options->stats || !set->options->stats->events)
		return 0;
	for (unsigned domain = 0; !r && domain < AMD_DOMAINS; domain++)
		r = write_domain(set, domain);
	return r ? r : write_domains(set);
}

static int file_commit(struct csv_set *set, struct output_file *file)
{
	int r = file->out ? output_commit(file, set->err) : 0;

	if (!r && file->path && set->options->tell)
		set->options->tell(set->options->context, file->path);
	return r;
}

/* A full disk is noticed before the first file gets its name. */
static int file_flush(struct csv_set *set, struct output_file *file)
{
	errno = 0;
	if (!file->out || (!fflush(file->out) && !ferror(file->out)))
		return 0;
	return output_explain(errno ? -errno : -EIO, file->path, set->err);
}

static int each_file(struct csv_set *set, int (*act)(struct csv_set *, struct output_file *))
{
	int r = act(set, &set->agent_info);

	for (unsigned domain = 0; !r && domain < AMD_DOMAINS; domain++) {
		r = act(set, &set->traces[domain]);
		if (!r)
			r = act(set, &set->stats[domain]);
	}
	return r ? r : act(set, &set->domain_stats);
}

int amd_csv_write(struct amd_view *view, const char *prefix, const struct amd_csv_options *options,
		  struct err *err)
{
	struct csv_set set = { .view = view, .prefix = prefix, .options = options, .err = err };
	int r = 0;

	set.agents = agents_new(view->model, view->process);
	if (!set.agents)
		r = err_set(err, -ENOMEM, "write '%s': no memory", prefix);
	if (!r) {
		errno = 0;
		r = amd_each_event(view, event_put, &set);
		if (r && !err->code)
			output_explain(r, prefix, err);
	}
	if (!r)
		r = write_agents(&set);
	if (!r)
		r = write_stats(&set);
	if (!r)
		r = each_file(&set, file_flush);
	if (!r)
		r = each_file(&set, file_commit);
	for (unsigned domain = 0; domain < AMD_DOMAINS; domain++) {
		output_discard(&set.traces[domain]);
		output_discard(&set.stats[domain]);
	}
	output_discard(&set.domain_stats);
	output_discard(&set.agent_info);
	agents_free(set.agents, set.view->model);
	return r;
}

/* Each process has its set of files; several have their numbers in the names, as in AMD's tool. */
static int write_process(struct model *model, const struct model_process *process,
			 const char *prefix, struct err *err)
{
	CLEANUP(amd_view_done) struct amd_view view = { 0 };
	CLEANUP(amd_stats_done) struct amd_stats stats = { 0 };
	struct amd_csv_options options = { .stats = &stats, .keeps_strangers = true };
	int r = amd_view_init(&view, model, &(struct amd_view_options){ .process = process }, err);

	if (!r && amd_stats_init(&stats, &view))
		r = err_set(err, -ENOMEM, "write '%s': no memory", prefix);
	return r ? r : amd_csv_write(&view, prefix, &options, err);
}

static int write_all(struct model *model, const char *prefix, struct err *err)
{
	int r = output_make_folders(prefix, err);

	for (uint32_t i = 0; !r && i < model->process_count; i++) {
		CLEANUP(free) char *own = NULL;
		char number[16] = "";

		if (i)
			snprintf(number, sizeof(number), "_%d", model->processes[i]->pid);
		if (asprintf(&own, "%s%s", prefix, number) < 0) {
			own = NULL;
			return err_set(err, -ENOMEM, "write '%s': no memory", prefix);
		}
		r = write_process(model, model->processes[i], own, err);
	}
	return r;
}

const struct exporter_format format_rocprof_csv = {
	.write_set = write_all,
};
