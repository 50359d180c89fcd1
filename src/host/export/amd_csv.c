/*
 * rocprof-csv: header and texts in quotes, numbers bare, a newline at the end of each line, times
 * in nanoseconds of CLOCK_BOOTTIME.  A quote in a text is written twice.
 */
#include "host/export/amd_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/utf8.h"
#include "host/export/exporter.h"
#include "host/export/output_file.h"

#define API_COLUMNS                                                                \
	"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\"," \
	"\"Start_Timestamp\",\"End_Timestamp\"\n"

static const char *const headers[AMD_DOMAINS] = {
	[AMD_HSA] = API_COLUMNS,
	[AMD_HIP] = API_COLUMNS,
	[AMD_MARKER] = API_COLUMNS,
	[AMD_RCCL] = API_COLUMNS,
	[AMD_OPENCL] = API_COLUMNS,
	[AMD_OWN] = API_COLUMNS,
	[AMD_KERNEL] =
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
		"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","
		"\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","
		"\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","
		"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n",
	[AMD_COPY] = "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\","
		     "\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\","
		     "\"End_Timestamp\"\n",
	[AMD_MEMORY] = "\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\","
		       "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n",
	[AMD_SCRATCH] = "\"Kind\",\"Operation\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\","
			"\"Alloc_Flags\",\"Start_Timestamp\",\"End_Timestamp\","
			"\"Allocation_Size\"\n",
};

static const char stats_header[] = "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\","
				   "\"Percentage\",\"MinNs\",\"MaxNs\",\"StdDev\"\n";

/* Of an agent, in their order.  What limpet does not know is 0. */
static const char *const agent_columns[] = {
	"Node_Id",
	"Logical_Node_Id",
	"Agent_Type",
	"Cpu_Cores_Count",
	"Simd_Count",
	"Cpu_Core_Id_Base",
	"Simd_Id_Base",
	"Max_Waves_Per_Simd",
	"Lds_Size_In_Kb",
	"Gds_Size_In_Kb",
	"Num_Gws",
	"Wave_Front_Size",
	"Num_Xcc",
	"Cu_Count",
	"Array_Count",
	"Num_Shader_Banks",
	"Simd_Arrays_Per_Engine",
	"Cu_Per_Simd_Array",
	"Simd_Per_Cu",
	"Max_Slots_Scratch_Cu",
	"Gfx_Target_Version",
	"Vendor_Id",
	"Device_Id",
	"Location_Id",
	"Domain",
	"Drm_Render_Minor",
	"Num_Sdma_Engines",
	"Num_Sdma_Xgmi_Engines",
	"Num_Sdma_Queues_Per_Engine",
	"Num_Cp_Queues",
	"Max_Engine_Clk_Ccompute",
	"Max_Engine_Clk_Fcompute",
	"Sdma_Fw_Version",
	"Fw_Version",
	"Capability",
	"Cu_Per_Engine",
	"Max_Waves_Per_Cu",
	"Family_Id",
	"Workgroup_Max_Size",
	"Grid_Max_Size",
	"Local_Mem_Size",
	"Hive_Id",
	"Gpu_Id",
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

#define KNOWN_IN_FRONT 3u
#define KNOWN_BEHIND   4u

/* One set being written. */
struct set {
	struct amd_view *view;
	const char *prefix;
	const struct amd_csv_options *options;
	struct err *err;
	struct output_file traces[AMD_DOMAINS], stats[AMD_DOMAINS], domain_stats, agent_info;
	struct agents *agents; /* of each process */
};

/* "PREFIX_suffix.csv" */
static int open_file(struct set *set, struct output_file *file, const char *suffix,
		     const char *header)
{
	CLEANUP(free) char *path = NULL;
	int r;

	if (asprintf(&path, "%s_%s.csv", set->prefix, suffix) < 0) {
		path = NULL;
		return err_set(set->err, -ENOMEM, "write '%s': no memory", set->prefix);
	}
	r = output_open(file, path, set->err);
	if (!r)
		fputs(header, file->out);
	return r;
}

static int put_agent(struct set *set, FILE *out, const struct amd_event *event,
		     enum value_kind kind)
{
	const struct model_process *process = event->call->process;
	char label[64];
	bool is_new;
	const struct agent *agent =
		agents_find(&set->agents[process->number], event_value(event, kind), &is_new);

	if (!agent)
		return err_set(set->err, -ENOMEM, "write '%s': no memory", set->prefix);
	agent_label(agent, set->options->agent_index, label, sizeof(label));
	fputc(',', out);
	export_quoted(out, label);
	return 0;
}

static void put_number(FILE *out, uint64_t number)
{
	fprintf(out, ",%" PRIu64, number);
}

static void put_value(FILE *out, const struct amd_event *event, enum value_kind kind)
{
	put_number(out, event_value(event, kind));
}

static void put_times(FILE *out, const struct amd_event *event)
{
	fprintf(out, ",%" PRIu64 ",%" PRIu64, event->call->begin_ns, event->call->end_ns);
}

static int put_api_row(struct set *set, FILE *out, const struct amd_event *event)
{
	(void)set;
	export_quoted(out, amd_kind_name(event->kind));
	fputc(',', out);
	export_quoted(out, event->name);
	fprintf(out, ",%d,%" PRId64 ",%" PRIu64, event->call->process->pid, event->tid,
		event->correlation);
	put_times(out, event);
	return 0;
}

static int put_kernel_row(struct set *set, FILE *out, const struct amd_event *event)
{
	static const enum value_kind sizes[] = { VALUE_GROUP_X, VALUE_GROUP_Y, VALUE_GROUP_Z,
						 VALUE_GRID_X,  VALUE_GRID_Y,  VALUE_GRID_Z };
	int r;

	export_quoted(out, amd_kind_name(event->kind));
	r = put_agent(set, out, event, VALUE_DEVICE);
	put_value(out, event, VALUE_QUEUE);
	put_value(out, event, VALUE_STREAM);
	fprintf(out, ",%" PRId64, event->tid);
	put_value(out, event, VALUE_DISPATCH);
	put_value(out, event, VALUE_NAME);
	fputc(',', out);
	export_quoted(out, event->name);
	put_number(out, event->correlation);
	put_times(out, event);
	put_value(out, event, VALUE_LOCAL_BYTES);
	put_value(out, event, VALUE_SCRATCH_BYTES);
	/* Registers: not known. */
	fputs(",0,0,0", out);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		put_value(out, event, sizes[i]);
	return r;
}

static int put_copy_row(struct set *set, FILE *out, const struct amd_event *event)
{
	int r;

	export_quoted(out, amd_kind_name(event->kind));
	fputc(',', out);
	export_quoted(out, event->name);
	put_value(out, event, VALUE_STREAM);
	r = put_agent(set, out, event, VALUE_FROM_DEVICE);
	if (!r)
		r = put_agent(set, out, event, VALUE_DEVICE);
	put_number(out, event->correlation);
	put_times(out, event);
	return r;
}

static int put_memory_row(struct set *set, FILE *out, const struct amd_event *event)
{
	int r = 0;

	export_quoted(out, amd_kind_name(event->kind));
	fputc(',', out);
	export_quoted(out, event->name);
	if (amd_memory_has_agent(event))
		r = put_agent(set, out, event, VALUE_DEVICE);
	else
		fputs(",\"\"", out);
	put_value(out, event, VALUE_SIZE);
	fprintf(out, ",\"0x%016" PRIx64 "\"", event_value(event, VALUE_ADDRESS));
	put_number(out, event->correlation);
	put_times(out, event);
	return r;
}

static int put_scratch_row(struct set *set, FILE *out, const struct amd_event *event)
{
	int r;

	export_quoted(out, amd_kind_name(event->kind));
	fputc(',', out);
	export_quoted(out, event->name);
	r = put_agent(set, out, event, VALUE_DEVICE);
	put_value(out, event, VALUE_QUEUE);
	fprintf(out, ",%" PRId64, event->tid);
	put_value(out, event, VALUE_FLAGS);
	put_times(out, event);
	put_value(out, event, VALUE_SIZE);
	return r;
}

typedef int row_putter(struct set *set, FILE *out, const struct amd_event *event);

static row_putter *const putters[AMD_DOMAINS] = {
	[AMD_HSA] = put_api_row,         [AMD_HIP] = put_api_row,    [AMD_MARKER] = put_api_row,
	[AMD_RCCL] = put_api_row,        [AMD_OPENCL] = put_api_row, [AMD_OWN] = put_api_row,
	[AMD_KERNEL] = put_kernel_row,   [AMD_COPY] = put_copy_row,  [AMD_MEMORY] = put_memory_row,
	[AMD_SCRATCH] = put_scratch_row,
};

static int take(const struct amd_event *event, void *context)
{
	struct set *set = context;
	struct output_file *trace = &set->traces[event->domain];
	int r = trace->out ? 0
			   : open_file(set, trace, amd_domains[event->domain].trace_file,
				       headers[event->domain]);

	if (!r)
		r = putters[event->domain](set, trace->out, event);
	if (r)
		return r;
	fputc('\n', trace->out);
	return export_state(trace->out);
}

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
	put_number(out, statistics->calls);
	put_number(out, statistics->total_ns);
	put_fraction(out, statistics->mean_ns);
	put_percentage(out, whole_ns ? 100.0 * (double)statistics->total_ns / (double)whole_ns : 0);
	put_number(out, statistics->least_ns);
	put_number(out, statistics->most_ns);
	put_fraction(out, statistics_sample_deviation_ns(statistics));
	fputc('\n', out);
}

static int write_domain(struct set *set, enum amd_domain domain)
{
	const struct amd_stats *stats = set->options->stats;
	struct output_file *file = &set->stats[domain];
	int r;

	if (!stats->domains[domain].calls)
		return 0;
	r = open_file(set, file, amd_domains[domain].stats_file, stats_header);
	for (size_t i = stats->first[domain]; !r && i < stats->first[domain + 1]; i++)
		put_stats_row(file->out, stats->rows[i].name, &stats->rows[i].statistics,
			      stats->domains[domain].total_ns);
	return r;
}

static int write_domains(struct set *set)
{
	const struct amd_stats *stats = set->options->stats;
	uint64_t whole_ns = 0;
	int r;

	for (unsigned domain = 0; domain < AMD_DOMAINS; domain++)
		whole_ns += stats->domains[domain].total_ns;
	r = open_file(set, &set->domain_stats, "domain_stats", stats_header);
	for (unsigned domain = 0; !r && domain < AMD_DOMAINS; domain++)
		if (stats->domains[domain].calls)
			put_stats_row(set->domain_stats.out, amd_domains[domain].column,
				      &stats->domains[domain], whole_ns);
	return r;
}

static int write_stats(struct set *set)
{
	int r = 0;

	if (!set->options->stats || !set->options->stats->events)
		return 0;
	for (unsigned domain = 0; !r && domain < AMD_DOMAINS; domain++)
		r = write_domain(set, domain);
	return r ? r : write_domains(set);
}

static void put_agent_row(FILE *out, const struct agent *agent)
{
	size_t unknown = ARRAY_SIZE(agent_columns) - KNOWN_IN_FRONT - KNOWN_BEHIND;

	fprintf(out, "%" PRIu64 ",%" PRIu64 ",\"%s\"", agent->number, agent->number,
		agent_type(agent));
	for (size_t i = 0; i < unknown; i++)
		fputs(",0", out);
	fputc(',', out);
	export_quoted(out, agent->name);
	fputc(',', out);
	export_quoted(out, agent->vendor);
	fputc(',', out);
	export_quoted(out, agent->product);
	fputs(",\"\"\n", out);
}

/* After the traces: by then all agents are known. */
static int write_agents(struct set *set)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < set->view->model->process_count; i++)
		for (size_t j = 0; !r && j < set->agents[i].count; j++) {
			if (!set->agent_info.out) {
				r = open_file(set, &set->agent_info, "agent_info", "");
				for (size_t k = 0; !r && k < ARRAY_SIZE(agent_columns); k++)
					fprintf(set->agent_info.out, "%s\"%s\"", k ? "," : "",
						agent_columns[k]);
				if (!r)
					fputc('\n', set->agent_info.out);
			}
			if (!r)
				put_agent_row(set->agent_info.out, &set->agents[i].items[j]);
		}
	return r;
}

static int find_agents(struct set *set)
{
	const struct model *model = set->view->model;

	set->agents = calloc(MAX(model->process_count, 1u), sizeof(*set->agents));
	for (uint32_t i = 0; set->agents && i < model->process_count; i++) {
		bool is_shown = !set->view->process || set->view->process == model->processes[i];

		if (is_shown && agents_init(&set->agents[i], model->processes[i]))
			return err_set(set->err, -ENOMEM, "write '%s': no memory", set->prefix);
	}
	return set->agents ? 0 : err_set(set->err, -ENOMEM, "write '%s': no memory", set->prefix);
}

static int commit(struct set *set, struct output_file *file)
{
	int r = file->out ? output_commit(file, set->err) : 0;

	if (!r && file->path && set->options->tell)
		set->options->tell(set->options->context, file->path);
	return r;
}

static int commit_all(struct set *set)
{
	int r = commit(set, &set->agent_info);

	for (unsigned domain = 0; !r && domain < AMD_DOMAINS; domain++) {
		r = commit(set, &set->traces[domain]);
		if (!r)
			r = commit(set, &set->stats[domain]);
	}
	return r ? r : commit(set, &set->domain_stats);
}

static void set_done(struct set *set)
{
	for (unsigned domain = 0; domain < AMD_DOMAINS; domain++) {
		output_discard(&set->traces[domain]);
		output_discard(&set->stats[domain]);
	}
	output_discard(&set->domain_stats);
	output_discard(&set->agent_info);
	for (uint32_t i = 0; set->agents && i < set->view->model->process_count; i++)
		agents_done(&set->agents[i]);
	free(set->agents);
}

int amd_csv_write(struct amd_view *view, const char *prefix, const struct amd_csv_options *options,
		  struct err *err)
{
	struct set set = { .view = view, .prefix = prefix, .options = options, .err = err };
	int r = find_agents(&set);

	if (!r) {
		errno = 0;
		r = amd_each_event(view, take, &set);
		if (r && !err->code)
			output_explain(r, prefix, err);
	}
	if (!r)
		r = write_agents(&set);
	if (!r)
		r = write_stats(&set);
	if (!r)
		r = commit_all(&set);
	set_done(&set);
	return r;
}

/* Each process has its set; several are told apart as AMD's tool does it, by their numbers. */
static int write_process(struct model *model, const struct model_process *process,
			 const char *prefix, struct err *err)
{
	CLEANUP(amd_view_done) struct amd_view view = { 0 };
	CLEANUP(amd_stats_done) struct amd_stats stats = { 0 };
	struct amd_csv_options options = { .stats = &stats };
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

static const char *const extensions[] = { "", NULL };

const struct exporter exporter_rocprof_csv = {
	.name = "rocprof-csv",
	.summary = "AMD's set of CSV files, OUT_kernel_trace.csv and so on",
	.extensions = extensions,
	.write_set = write_all,
};
