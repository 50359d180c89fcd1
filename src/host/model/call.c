/*
 * Calls: their values by kind, and how they are named.
 */
#include "host/model/model.h"

#include <inttypes.h>
#include <stdio.h>

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

const char *value_name(unsigned kind)
{
	return kind < VALUE_KINDS && value_names[kind] ? value_names[kind] : NULL;
}

enum value_form value_form(unsigned kind)
{
	switch (kind) {
	case VALUE_ADDRESS:
	case VALUE_OLD_ADDRESS:
	case VALUE_OBJECT:
		return VALUE_POINTER;
	case VALUE_RESULT:
	case VALUE_DESCRIPTOR:
		return VALUE_SIGNED;
	default:
		return VALUE_UNSIGNED;
	}
}

const char *value_text(unsigned kind, uint64_t value, char ret[VALUE_TEXT_MAX])
{
	enum value_form form = value_form(kind);

	if (form == VALUE_SIGNED)
		snprintf(ret, VALUE_TEXT_MAX, "%" PRId64, (int64_t)value);
	else
		snprintf(ret, VALUE_TEXT_MAX, form == VALUE_POINTER ? "0x%" PRIx64 : "%" PRIu64,
			 value);
	return ret;
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

uint64_t call_number(const struct call *call, enum value_kind kind)
{
	uint64_t value = 0;

	call_value(call, kind, &value);
	return value;
}

uint64_t call_device(const struct call *call)
{
	uint64_t device = call_number(call, VALUE_DEVICE);

	return device ? device : call_number(call, VALUE_FROM_DEVICE);
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

uint64_t call_correlation(const struct call *call)
{
	uint64_t begin = call_number(call, VALUE_CAUSE), tid;

	if (!call_is_work(call))
		return correlation_of(call->model, call->begin, (uint64_t)call->thread->tid);
	return begin && call_value(call, VALUE_THREAD, &tid)
		       ? correlation_of(call->model, begin, tid)
		       : 0;
}
