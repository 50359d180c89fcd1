/*
 * kineto: the JSON that PyTorch's profiler writes, for the readers of its files: Holistic Trace
 * Analysis, TensorBoard's plugin.  Work of a device is in the process of the device's number and
 * the thread of its stream's, has the category of its kind, and the same "correlation" as the call
 * that caused it; an arrow (ac2g) leads from the one to the other.  Where a call of the runtime
 * contains the one of the driver, the runtime's is the one that has it: readers take one call for
 * each number.  Times are microseconds since the first call.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/text/text.h"
#include "host/export/amd/view/agents.h"
#include "host/export/exporter.h"
#include "host/export/values.h"

#define MEMSET        "[memset]"
#define PROPERTY_ROOM 64u

/* The call of the runtime that a thread was in last. */
struct runtime_call {
	uint64_t end_ns, correlation;
};

struct kineto {
	struct json json;
	struct model *model;
	struct agents *agents;     /* of each process */
	struct table correlations; /* (of the model, process): from 1 on */
	uint64_t correlation_last;
	struct runtime_call *outer; /* of each thread */
	bool has_origin;
	uint64_t origin_ns;
};

/* The category that readers of the format know, by domain; other domains are plain operations. */
static const char *const categories[DOMAINS] = {
	[DOMAIN_CUDA] = "cuda_driver",
	[DOMAIN_CUDA_RUNTIME] = "cuda_runtime",
	[DOMAIN_HIP_RUNTIME] = "cuda_runtime",
	[DOMAIN_MARKER] = "user_annotation",
	[DOMAIN_KERNEL] = "kernel",
	[DOMAIN_COPY] = "gpu_memcpy",
};

static const char *const copy_titles[COPY_DIRECTIONS] = {
	[COPY_UNKNOWN] = "Memcpy (Unknown)",
	[COPY_HOST_TO_HOST] = "Memcpy HtoH (Host -> Host)",
	[COPY_HOST_TO_DEVICE] = "Memcpy HtoD (Host -> Device)",
	[COPY_DEVICE_TO_HOST] = "Memcpy DtoH (Device -> Host)",
	[COPY_DEVICE_TO_DEVICE] = "Memcpy DtoD (Device -> Device)",
};

static bool is_memset(const struct call *call)
{
	return call->function->domain == DOMAIN_KERNEL && strcmp(call_name(call), MEMSET) == 0;
}

static const char *call_category(const struct call *call)
{
	unsigned domain = call->function->domain;

	if (is_memset(call))
		return "gpu_memset";
	return domain < DOMAINS && categories[domain] ? categories[domain] : "cpu_op";
}

static const char *call_title(const struct call *call)
{
	uint64_t direction = call_number(call, VALUE_DIRECTION);

	if (is_memset(call))
		return "Memset (Device)";
	if (call->function->domain == DOMAIN_COPY)
		return copy_titles[direction < COPY_DIRECTIONS ? direction : COPY_UNKNOWN];
	return call_name(call);
}

/* The work that it causes is found by the driver's call in it. */
static uint64_t runtime_correlation(struct kineto *kineto, const struct call *call)
{
	struct runtime_call *outer = &kineto->outer[call->thread->number];
	uint64_t correlation = ++kineto->correlation_last;

	if (call->begin_ns >= outer->end_ns)
		*outer = (struct runtime_call){ call->end_ns, correlation };
	return correlation;
}

static int correlation_find(struct kineto *kineto, const struct call *call, uint64_t *ret)
{
	const struct runtime_call *outer = &kineto->outer[call->thread->number];
	bool is_inner = call->function->domain == DOMAIN_CUDA && call->begin_ns < outer->end_ns;
	uint64_t whole = call_correlation(call);
	struct table_entry *entry;
	bool is_new;

	*ret = 0;
	if (!whole)
		return 0;
	if (call->function->domain == DOMAIN_CUDA_RUNTIME) {
		*ret = runtime_correlation(kineto, call);
		return 0;
	}
	entry = table_make(&kineto->correlations, whole, call->process->number, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new)
		entry->value = is_inner ? outer->correlation : ++kineto->correlation_last;
	*ret = is_inner ? 0 : entry->value;
	return 0;
}

/* Where it is shown: a thread of a process, or a stream of a device. */
struct track {
	int64_t pid, tid;
	uint64_t correlation;
};

/* As its runtime counts them: "stream 7 of context 1". */
static int64_t stream_number(const struct call *call)
{
	uint64_t stream = call_number(call, VALUE_STREAM);
	struct text name = text_of(names_find(&call->process->names, NAME_STREAM, stream));

	if (text_take_prefix(&name, "stream "))
		(void)text_take_number(&name, 10, &stream);
	return (int64_t)stream;
}

static int track_find(struct kineto *kineto, const struct call *call, struct track *ret)
{
	const struct agent *agent;

	*ret = (struct track){ call->process->pid, call->thread->tid, 0 };
	if (call_is_work(call)) {
		agent = agents_find(kineto->agents, call->process, call_device(call));
		if (!agent)
			return -ENOMEM;
		ret->pid = agent->type_index;
		ret->tid = stream_number(call);
	}
	return correlation_find(kineto, call, &ret->correlation);
}

static void write_three(struct json *json, const char *key, const uint64_t *values)
{
	json_list(json, key);
	for (unsigned i = 0; i < 3; i++)
		json_number(json, NULL, values[i]);
	json_list_end(json);
}

/* Grids are counted in blocks there; the last one may be a part. */
static void write_kernel(struct json *json, const struct call *call)
{
	uint64_t grid[3], block[3];

	for (unsigned i = 0; i < 3; i++) {
		uint64_t items = call_number(call, VALUE_GRID_X + i), size;

		block[i] = call_number(call, VALUE_GROUP_X + i);
		size = MAX(block[i], 1u);
		grid[i] = items / size + (items % size != 0);
	}
	write_three(json, "grid", grid);
	write_three(json, "block", block);
	json_number(json, "shared memory", call_number(call, VALUE_LOCAL_BYTES));
}

static void write_arguments(struct json *json, const struct call *call, const struct track *track)
{
	uint64_t bytes = call_number(call, VALUE_SIZE), length_ns = call->end_ns - call->begin_ns;

	json_object(json, "args");
	if (track->correlation)
		json_number(json, "correlation", track->correlation);
	if (call_is_work(call)) {
		json_signed(json, "device", track->pid);
		json_signed(json, "stream", track->tid);
	}
	if (call->function->domain == DOMAIN_COPY) {
		json_number(json, "bytes", bytes);
		json_rounded(json, "memory bandwidth (GB/s)",
			     (double)bytes / (double)MAX(length_ns, 1u), 3);
	} else if (call_is_work(call) && !is_memset(call)) {
		write_kernel(json, call);
	} else if (!call_is_work(call)) {
		values_write(json, call);
	}
	json_object_end(json);
}

static void write_head(struct kineto *kineto, const char *phase, const char *name,
		       const char *category, const struct track *track)
{
	struct json *json = &kineto->json;

	json_object(json, NULL);
	json_text(json, "ph", phase);
	json_text(json, "cat", category);
	json_text(json, "name", name);
	json_signed(json, "pid", track->pid);
	json_signed(json, "tid", track->tid);
}

static void write_time(struct kineto *kineto, const char *key, uint64_t time_ns)
{
	json_fixed(&kineto->json, key, time_ns - MIN(kineto->origin_ns, time_ns), 3);
}

static void write_arrow_end(struct kineto *kineto, const char *phase, const struct track *track,
			    uint64_t time_ns)
{
	struct json *json = &kineto->json;

	write_head(kineto, phase, "ac2g", "ac2g", track);
	json_number(json, "id", track->correlation);
	write_time(kineto, "ts", time_ns);
	if (phase[0] == 'f')
		json_text(json, "bp", "e");
	json_object_end(json);
}

static void write_arrow(struct kineto *kineto, const struct call *call, const struct track *track)
{
	uint64_t cause, thread;
	struct track from = { call->process->pid, 0, track->correlation };

	if (!call_value(call, VALUE_CAUSE, &cause) || !cause ||
	    !call_value(call, VALUE_THREAD, &thread))
		return;
	from.tid = (int64_t)thread;
	write_arrow_end(kineto, "s", &from, model_time_ns(kineto->model, cause));
	write_arrow_end(kineto, "f", track, call->begin_ns);
}

/* Memory of devices is no event there, and marks have no duration. */
static bool is_left_out(const struct call *call)
{
	return call->kind == CALL_MARK || call->function->domain == DOMAIN_MEMORY ||
	       call->function->domain == DOMAIN_SCRATCH;
}

static int write_call(const struct call *call, void *context)
{
	struct kineto *kineto = context;
	struct track track;
	int r = is_left_out(call) ? 0 : track_find(kineto, call, &track);

	if (r || is_left_out(call))
		return r;
	if (!kineto->has_origin)
		kineto->origin_ns = call->begin_ns;
	kineto->has_origin = true;
	write_head(kineto, "X", call_title(call), call_category(call), &track);
	write_time(kineto, "ts", call->begin_ns);
	json_fixed(&kineto->json, "dur", call->end_ns - call->begin_ns, 3);
	write_arguments(&kineto->json, call, &track);
	json_object_end(&kineto->json);
	if (call_is_work(call))
		write_arrow(kineto, call, &track);
	return export_state(kineto->json.out);
}

/* A line "key=value" of the runtime about a device; 0 when it is missing. */
static uint64_t property_of(const struct model_process *process, uint64_t device, const char *key)
{
	const char *text = names_find(&process->names, NAME_DEVICE, device);
	char line[PROPERTY_ROOM];
	const char *found;

	snprintf(line, sizeof(line), "\n%s=", key);
	found = strstr(text, line);
	return found ? strtoull(found + strlen(line), NULL, 10) : 0;
}

static void write_devices(struct json *json, const struct kineto *kineto)
{
	const struct model_process *process = kineto->model->processes[0];
	const struct agents *agents = &kineto->agents[0];

	json_list(json, "deviceProperties");
	for (size_t i = 0; i < agents->count; i++) {
		const struct agent *agent = &agents->items[i];

		if (agent->is_cpu)
			continue;
		json_object(json, NULL);
		json_number(json, "id", agent->type_index);
		json_text(json, "name", agent->name);
		json_number(json, "computeMajor",
			    property_of(process, agent->number, "compute_capability"));
		json_number(json, "numSms", property_of(process, agent->number, "multiprocessors"));
		json_object_end(json);
	}
	json_list_end(json);
}

static uint64_t variable_number(const struct model_process *process, const char *name,
				uint64_t otherwise)
{
	const char *text = process_variable(process, name);

	return text && text[0] ? strtoull(text, NULL, 10) : otherwise;
}

/* In torchrun's variables. */
static void write_rank(struct json *json, const struct model_process *process)
{
	char rank[32];

	json_object(json, "distributedInfo");
	json_text(json, "backend", "");
	/* Holistic Trace Analysis searches for it with this space. */
	snprintf(rank, sizeof(rank), " %llu",
		 (unsigned long long)variable_number(process, "RANK", 0));
	json_raw(json, "rank", rank);
	json_number(json, "world_size", variable_number(process, "WORLD_SIZE", 1));
	json_object_end(json);
}

static void write_thread_name(struct kineto *kineto, const struct model_thread *thread)
{
	struct json *json = &kineto->json;
	struct track track = { thread->process->pid, thread->tid, 0 };

	write_head(kineto, "M", "thread_name", "__metadata", &track);
	json_object(json, "args");
	json_text(json, "name", thread->name);
	json_object_end(json);
	json_object_end(json);
}

static int write_all(struct kineto *kineto)
{
	struct json *json = &kineto->json;
	struct model *model = kineto->model;
	int r;

	json_object(json, NULL);
	json_number(json, "schemaVersion", 1);
	if (model->process_count) {
		write_devices(json, kineto);
		write_rank(json, model->processes[0]);
	}
	json_text(json, "displayTimeUnit", "ms");
	json_list(json, "traceEvents");
	for (uint32_t i = 0; i < model->thread_count; i++)
		write_thread_name(kineto, model->threads[i]);
	r = model_each_call(model, write_call, kineto);
	json_list_end(json);
	json_object_end(json);
	return r;
}

static int kineto_write(struct model *model, FILE *out)
{
	struct kineto kineto = { .json = { .out = out }, .model = model };
	int r;

	kineto.agents = agents_new(model, /* only */ NULL);
	kineto.outer = calloc(MAX(model->thread_count, 1u), sizeof(*kineto.outer));
	r = kineto.agents && kineto.outer ? write_all(&kineto) : -ENOMEM;
	agents_free(kineto.agents, model);
	free(kineto.outer);
	table_done(&kineto.correlations);
	return r;
}

const struct exporter_format format_kineto = {
	.looks_like = "{\"schemaVersion\":1,*",
	.write = kineto_write,
};
