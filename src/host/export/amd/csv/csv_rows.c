/*
 * Rows of traces, by domain.
 */
#include "host/export/amd/csv/csv_parts.h"

#include <errno.h>
#include <inttypes.h>

#include "host/export/values.h"

void csv_number(FILE *out, uint64_t number)
{
	fprintf(out, ",%" PRIu64, number);
}

#define API_COLUMNS                                                                \
	"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\"," \
	"\"Start_Timestamp\",\"End_Timestamp\"\n"

const char *const csv_headers[AMD_DOMAINS] = {
	[AMD_HSA] = API_COLUMNS,
	[AMD_HIP] = API_COLUMNS,
	[AMD_MARKER] = API_COLUMNS,
	[AMD_RCCL] = API_COLUMNS,
	[AMD_ROCDECODE] = API_COLUMNS,
	[AMD_ROCJPEG] = API_COLUMNS,
	[AMD_OPENCL] = API_COLUMNS,
	[AMD_OWN] = API_COLUMNS,
	[AMD_KERNEL] =
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
		"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","
		"\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","
		"\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","
		"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n",
	[AMD_COUNTER] = "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\","
			"\"Process_Id\",\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\","
			"\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","
			"\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\","
			"\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n",
	[AMD_COPY] = "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\","
		     "\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\","
		     "\"End_Timestamp\"\n",
	[AMD_MEMORY] = "\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\","
		       "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n",
	[AMD_SCRATCH] = "\"Kind\",\"Operation\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\","
			"\"Alloc_Flags\",\"Start_Timestamp\",\"End_Timestamp\","
			"\"Allocation_Size\"\n",
};

/* Of three kinds. They are in the code object only: an empty cell is no number, 0 would be one. */
static void put_no_registers(FILE *out)
{
	fputs(",,,", out);
}

static void put_text(FILE *out, const char *text)
{
	fputc(',', out);
	export_quoted(out, text);
}

static int put_agent(struct csv_set *set, FILE *out, const struct amd_event *event,
		     enum value_kind kind)
{
	char label[64];
	const struct agent *agent =
		agents_find(set->agents, event->call->process, event_value(event, kind));

	if (!agent)
		return err_set(set->err, -ENOMEM, "write '%s': no memory", set->prefix);
	agent_label(agent, set->options->agent_index, label, sizeof(label));
	put_text(out, label);
	return 0;
}

static void put_value(FILE *out, const struct amd_event *event, enum value_kind kind)
{
	csv_number(out, event_value(event, kind));
}

/* The first two columns of work: its kind, and its direction or operation. */
static void put_kind(FILE *out, const struct amd_event *event)
{
	export_quoted(out, amd_kind_name(event->kind));
	put_text(out, event->name);
}

static void put_times(FILE *out, const struct amd_event *event)
{
	fprintf(out, ",%" PRIu64 ",%" PRIu64, event->call->begin_ns, event->call->end_ns);
}

static int put_api_row(struct csv_set *set, FILE *out, const struct amd_event *event)
{
	(void)set;
	put_kind(out, event);
	fprintf(out, ",%d,%" PRId64 ",%" PRIu64, event->call->process->pid, event->tid,
		event->correlation);
	put_times(out, event);
	return 0;
}

static int put_kernel_row(struct csv_set *set, FILE *out, const struct amd_event *event)
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
	csv_number(out, event->kernel);
	put_text(out, event->name);
	csv_number(out, event->correlation);
	put_times(out, event);
	put_value(out, event, VALUE_LOCAL_BYTES);
	put_value(out, event, VALUE_SCRATCH_BYTES);
	put_no_registers(out);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		put_value(out, event, sizes[i]);
	return r;
}

static int put_copy_row(struct csv_set *set, FILE *out, const struct amd_event *event)
{
	int r;

	put_kind(out, event);
	put_value(out, event, VALUE_STREAM);
	r = put_agent(set, out, event, VALUE_FROM_DEVICE);
	if (!r)
		r = put_agent(set, out, event, VALUE_DEVICE);
	csv_number(out, event->correlation);
	put_times(out, event);
	return r;
}

static int put_memory_row(struct csv_set *set, FILE *out, const struct amd_event *event)
{
	int r = 0;

	put_kind(out, event);
	if (amd_memory_has_agent(event))
		r = put_agent(set, out, event, VALUE_DEVICE);
	else
		fputs(",\"\"", out);
	put_value(out, event, VALUE_SIZE);
	fprintf(out, ",\"0x%016" PRIx64 "\"", event_value(event, VALUE_ADDRESS));
	csv_number(out, event->correlation);
	put_times(out, event);
	return r;
}

static int put_scratch_row(struct csv_set *set, FILE *out, const struct amd_event *event)
{
	int r;

	put_kind(out, event);
	r = put_agent(set, out, event, VALUE_DEVICE);
	put_value(out, event, VALUE_QUEUE);
	fprintf(out, ",%" PRId64, event->tid);
	put_value(out, event, VALUE_FLAGS);
	put_times(out, event);
	put_value(out, event, VALUE_SIZE);
	return r;
}

static uint64_t put_product(const struct amd_event *event, enum value_kind first)
{
	return event_value(event, first) * event_value(event, first + 1) *
	       event_value(event, first + 2);
}

/* As AMD's: LDS in blocks of 512 bytes. */
static uint64_t block_bytes(uint64_t bytes)
{
	return (bytes + 511) / 512 * 512;
}

struct counter_rows {
	struct csv_set *set;
	FILE *out;
	const struct amd_event *event;
	bool has_row;
};

/* One row of each counter; all of its places are added up. */
static int put_counter(const struct recorded_counter *counter, const struct counter_values *values,
		       void *context)
{
	struct counter_rows *rows = context;
	const struct amd_event *event = rows->event;
	FILE *out = rows->out;
	int r;

	if (rows->has_row)
		fputc('\n', out);
	rows->has_row = true;
	fprintf(out, "%" PRIu64 ",%" PRIu64, event->correlation,
		event_value(event, VALUE_DISPATCH));
	r = put_agent(rows->set, out, event, VALUE_DEVICE);
	put_value(out, event, VALUE_QUEUE);
	fprintf(out, ",%d,%" PRId64, event->call->process->pid, event->tid);
	csv_number(out, put_product(event, VALUE_GRID_X));
	csv_number(out, event->kernel);
	put_text(out, event->name);
	csv_number(out, put_product(event, VALUE_GROUP_X));
	csv_number(out, block_bytes(event_value(event, VALUE_LOCAL_BYTES)));
	put_value(out, event, VALUE_SCRATCH_BYTES);
	put_no_registers(out);
	put_text(out, counter->name);
	fprintf(out, ",%f", counter_values_sum(values));
	put_times(out, event);
	return r;
}

static int put_counter_rows(struct csv_set *set, FILE *out, const struct amd_event *event)
{
	struct counter_rows rows = { set, out, event, false };

	return counted_each(&set->view->counted, event->call, put_counter, &rows);
}

csv_row *const csv_rows[AMD_DOMAINS] = {
	[AMD_HSA] = put_api_row,          [AMD_HIP] = put_api_row,
	[AMD_MARKER] = put_api_row,       [AMD_RCCL] = put_api_row,
	[AMD_ROCDECODE] = put_api_row,    [AMD_ROCJPEG] = put_api_row,
	[AMD_OPENCL] = put_api_row,       [AMD_OWN] = put_api_row,
	[AMD_KERNEL] = put_kernel_row,    [AMD_COPY] = put_copy_row,
	[AMD_MEMORY] = put_memory_row,    [AMD_SCRATCH] = put_scratch_row,
	[AMD_COUNTER] = put_counter_rows,
};
