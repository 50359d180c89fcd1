/*
 * Texts about a model for people: names, times, frames, and its end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/sorted.h"
#include "host/core/text/path.h"
#include "host/model/model.h"
#include "host/model/samples/samples.h"
#include "host/recording/drops.h"

static const char *const drop_names[DROP_REASONS] = {
	[DROP_FULL] = "full",
	[DROP_NESTED] = "nested",
	[DROP_NO_RING] = "no_ring",
	[DROP_NO_COUNTER] = "no_counter",
};

static const char *const drop_texts[DROP_REASONS] = {
	[DROP_FULL] = "because limpet was too slow",
	[DROP_NESTED] = "in signal handlers",
	[DROP_NO_RING] = "of threads without a ring",
	[DROP_NO_COUNTER] = "because the program forbids to read the machine's counter",
};

static const char *const value_names[VALUE_KINDS] = {
	[VALUE_RESULT] = "result",
	[VALUE_SIZE] = "size",
	[VALUE_ADDRESS] = "address",
	[VALUE_OLD_ADDRESS] = "old_address",
	[VALUE_DESCRIPTOR] = "descriptor",
	[VALUE_OBJECT] = "object",
	[VALUE_OWNER] = "owner",
	[VALUE_ID] = "id",
	[VALUE_NAME] = "name",
	[VALUE_DEVICE] = "device",
	[VALUE_FROM_DEVICE] = "from_device",
	[VALUE_QUEUE] = "queue",
	[VALUE_STREAM] = "stream",
	[VALUE_THREAD] = "cause_thread",
	[VALUE_CAUSE] = "cause",
	[VALUE_DISPATCH] = "dispatch",
	[VALUE_GRID_X] = "grid_x",
	[VALUE_GRID_Y] = "grid_y",
	[VALUE_GRID_Z] = "grid_z",
	[VALUE_GROUP_X] = "group_x",
	[VALUE_GROUP_Y] = "group_y",
	[VALUE_GROUP_Z] = "group_z",
	[VALUE_SCRATCH_BYTES] = "scratch_bytes",
	[VALUE_LOCAL_BYTES] = "local_bytes",
	[VALUE_DIRECTION] = "direction",
	[VALUE_OPERATION] = "operation",
	[VALUE_FLAGS] = "flags",
	[VALUE_FILE] = "file",
	[VALUE_RANK] = "rank",
	[VALUE_RANKS] = "ranks",
	[VALUE_PEER] = "peer",
	[VALUE_CALL_STACK] = "call_stack",
};

const char *drop_reason_name(unsigned reason)
{
	return reason < DROP_REASONS && drop_names[reason] ? drop_names[reason] : "other";
}

const char *drop_reason_text(unsigned reason)
{
	return reason < DROP_REASONS && drop_texts[reason] ? drop_texts[reason] : "otherwise";
}

const char *value_name(unsigned kind)
{
	return kind < VALUE_KINDS && value_names[kind] ? value_names[kind] : NULL;
}

bool call_value(const struct call *call, enum value_kind kind, uint64_t *ret)
{
	unsigned count = MIN(call->value_count, call->function->value_count);

	for (unsigned i = 0; i < count; i++)
		if (call->function->values[i] == kind) {
			*ret = call->values[i];
			return true;
		}
	return false;
}

uint64_t call_device(const struct call *call)
{
	uint64_t device = 0;

	call_value(call, VALUE_DEVICE, &device);
	if (!device)
		call_value(call, VALUE_FROM_DEVICE, &device);
	return device;
}

static const char *const direction_names[COPY_DIRECTIONS] = {
	[COPY_UNKNOWN] = "MEMORY_COPY_NONE",
	[COPY_HOST_TO_HOST] = "MEMORY_COPY_HOST_TO_HOST",
	[COPY_HOST_TO_DEVICE] = "MEMORY_COPY_HOST_TO_DEVICE",
	[COPY_DEVICE_TO_HOST] = "MEMORY_COPY_DEVICE_TO_HOST",
	[COPY_DEVICE_TO_DEVICE] = "MEMORY_COPY_DEVICE_TO_DEVICE",
};

static const char *const memory_names[MEMORY_OPERATIONS] = {
	[MEMORY_ALLOCATE] = "MEMORY_ALLOCATION_ALLOCATE",
	[MEMORY_FREE] = "MEMORY_ALLOCATION_FREE",
	[MEMORY_REALLOCATE] = "MEMORY_ALLOCATION_REALLOCATE",
	[MEMORY_RECLAIM] = "MEMORY_ALLOCATION_RECLAIM",
	[MEMORY_VIRTUAL_ALLOCATE] = "MEMORY_ALLOCATION_VMEM_ALLOCATE",
	[MEMORY_VIRTUAL_FREE] = "MEMORY_ALLOCATION_VMEM_FREE",
};

static const char *const scratch_names[MEMORY_OPERATIONS] = {
	[MEMORY_ALLOCATE] = "SCRATCH_MEMORY_ALLOC",
	[MEMORY_FREE] = "SCRATCH_MEMORY_FREE",
	[MEMORY_RECLAIM] = "SCRATCH_MEMORY_ASYNC_RECLAIM",
};

/* The work of a device other than kernels, by the value that has it. */
static const struct work_words {
	unsigned domain;
	enum value_kind kind;
	unsigned count;
	const char *const *names;
	const char *otherwise;
} work_words[] = {
	{ DOMAIN_COPY, VALUE_DIRECTION, COPY_DIRECTIONS, direction_names, "MEMORY_COPY_NONE" },
	{ DOMAIN_MEMORY, VALUE_OPERATION, MEMORY_OPERATIONS, memory_names,
	  "MEMORY_ALLOCATION_NONE" },
	{ DOMAIN_SCRATCH, VALUE_OPERATION, MEMORY_OPERATIONS, scratch_names,
	  "SCRATCH_MEMORY_NONE" },
};

static const char *operation_name(const struct work_words *words, const struct call *call)
{
	uint64_t value = UINT64_MAX;

	if (!call_value(call, words->kind, &value) || value >= words->count || !words->names[value])
		return words->otherwise;
	return words->names[value];
}

static const char *kernel_name(const struct call *call)
{
	uint64_t id;
	const char *name = call_value(call, VALUE_NAME, &id)
				   ? names_title(&call->process->names, NAME_KERNEL, id)
				   : "";

	return name[0] ? name : call->function->name;
}

/* Kernels by their names. */
static const char *work_name(const struct call *call)
{
	for (size_t i = 0; i < ARRAY_SIZE(work_words); i++)
		if (work_words[i].domain == call->function->domain)
			return operation_name(&work_words[i], call);
	return kernel_name(call);
}

const char *call_name(const struct call *call)
{
	if (call_is_work(call))
		return work_name(call);
	if (call->kind == CALL_PLAIN)
		return call->function->name;
	if (call->text[0])
		return call->text;
	return call->cut == RANGE_HEADLESS ? "(began before)" : "(no name)";
}

const char *call_kind_name(enum call_kind kind)
{
	static const char *const names[] = { "call", "range", "mark" };

	return names[kind];
}

const char *call_cut_text(const struct call *call)
{
	static const char *const texts[] = { "", "began before", "did not end" };

	return texts[call->cut];
}

bool model_has_domain(const struct model *model, unsigned domain)
{
	for (uint32_t i = 0; i < model->process_count; i++)
		for (uint32_t j = 0; j < model->processes[i]->function_count; j++)
			if (model->processes[i]->functions[j].domain == domain)
				return true;
	return false;
}

/* Positive in 64 bits with a sign.  Two threads that begin in one tick differ in their numbers. */
static uint64_t correlation_of(const struct model *model, uint64_t begin, uint64_t tid)
{
	return ((begin - model->first.ticks) << 12 | (tid & 0xfff)) & INT64_MAX;
}

uint64_t call_correlation(const struct model *model, const struct call *call)
{
	uint64_t begin, tid;

	if (!call_is_work(call))
		return correlation_of(model, call->begin, (uint64_t)call->thread->tid);
	if (!call_value(call, VALUE_CAUSE, &begin) || !begin ||
	    !call_value(call, VALUE_THREAD, &tid))
		return 0;
	return correlation_of(model, begin, tid);
}

const char *process_variable(const struct model_process *process, const char *name)
{
	for (uint32_t i = 0; i < process->variable_count; i++)
		if (strcmp(process->variables[i].name, name) == 0)
			return process->variables[i].value;
	return NULL;
}

int process_set_variable(struct model_process *process, const char *name, const char *value)
{
	struct recorded_variable *more;
	char *own_name = strdup(name), *own_value = strdup(value);

	for (uint32_t i = 0; own_name && own_value && i < process->variable_count; i++)
		if (strcmp(process->variables[i].name, name) == 0) {
			free(own_name);
			free((char *)(uintptr_t)process->variables[i].value);
			process->variables[i].value = own_value;
			return 0;
		}
	more = own_name && own_value
		       ? reallocarray(process->variables, process->variable_count + 1u,
				      sizeof(*process->variables))
		       : NULL;
	if (!more) {
		free(own_name);
		free(own_value);
		return -ENOMEM;
	}
	process->variables = more;
	more[process->variable_count++] = (struct recorded_variable){ own_name, own_value };
	return 0;
}

static uint64_t base_at(const void *modules, size_t index)
{
	return ((const struct recorded_module *)modules)[index].base;
}

const struct recorded_module *process_module(const struct model_process *process, uint64_t address)
{
	size_t count = count_up_to(process->modules, process->module_count, address, base_at);
	const struct recorded_module *last = count ? &process->modules[count - 1] : NULL;

	return last && address - last->base < last->size ? last : NULL;
}

void frame_text(const struct model_process *process, uint64_t address, char *ret, size_t room)
{
	const struct recorded_module *module = process_module(process, address);

	if (module)
		snprintf(ret, room, "%s+0x%" PRIx64, path_base_name(module->path),
			 address - module->base + module->offset);
	else
		snprintf(ret, room, "0x%" PRIx64, address);
}

static const char *const end_words[RECORDING_ENDS] = {
	[RECORDING_CUT] =
		"it has no end: limpet was killed, had no room for more, or is still writing it",
	[RECORDING_COMPLETE] = "",
	[RECORDING_NO_SPACE] = "it ends early: the file could not be written any more",
	[RECORDING_GIVEN_UP] = "it ends early: limpet was told to give up",
};

void model_describe_end(const struct model *model, char *ret, size_t room)
{
	size_t length = (size_t)snprintf(ret, room, "%s", end_words[model->end.reason]);

	if (model->damaged && length < room)
		length += (size_t)snprintf(ret + length, room - length,
					   "%s%" PRIu64 " damaged chunks were left out",
					   length ? "; " : "", model->damaged);
	if (model->left_out && length < room)
		snprintf(ret + length, room - length,
			 "%s%" PRIu64 " chunks were left out after %" PRIu64
			 " records: they hold more than a file of this size can; --max-records N "
			 "reads further",
			 length ? "; " : "", model->left_out, model->records);
}

/* A process that executes another program is a second one in the model, with the same PID. */
static uint32_t count_pids(const struct model *model)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->process_count; i++)
		count += !i || model->processes[i - 1]->pid != model->processes[i]->pid;
	return count;
}

/* Of several processes each may have ended between two samples. */
static void explain_no_samples(const struct model *model, struct err *err)
{
	uint32_t count = count_pids(model);

	if (count <= 1) {
		err_why(err, "no thread ran while it was sampled (%s, %u Hz)",
			model->samples->sampler, model->samples->hz);
		return;
	}
	err_why(err, "none of %u processes ran long enough for a sample (%s, %u Hz)", count,
		model->samples->sampler, model->samples->hz);
	err_fix(err, "limpet record -F 999");
}

int model_check_filled(const struct model *model, const char *path, struct err *err)
{
	char end[256];

	if (model->calls || model->samples->count || model->windows.count)
		return 0;
	err_set(err, -ENODATA, "'%s' holds no calls, no samples and no counters", path);
	model_describe_end(model, end, sizeof(end));
	if (drops_sum(model->drops))
		err_why(err, "all %" PRIu64 " records were dropped", drops_sum(model->drops));
	else if (end[0])
		err_why(err, "%s", end);
	else if (model->samples->hz)
		explain_no_samples(model, err);
	else
		err_why(err, "nothing that was traced (%s) was called while it was recorded",
			model->options[0] ? model->options : "nothing was asked for");
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}
