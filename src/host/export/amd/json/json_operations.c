/*
 * Operations are indexes in a list for each kind: AMD's own names in front where it has any, then
 * the functions that were recorded.
 */
#include "host/export/amd/json/json_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Operations by AMD's numbers, for kinds whose operations are no functions. */
static const char *const copy_operations[] = {
	"MEMORY_COPY_NONE",           "MEMORY_COPY_HOST_TO_HOST",     "MEMORY_COPY_HOST_TO_DEVICE",
	"MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE", NULL
};
static const char *const memory_operations[] = {
	"MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE",  "MEMORY_ALLOCATION_VMEM_ALLOCATE",
	"MEMORY_ALLOCATION_FREE", "MEMORY_ALLOCATION_VMEM_FREE", NULL
};
static const char *const scratch_operations[] = { "SCRATCH_MEMORY_NONE", "SCRATCH_MEMORY_ALLOC",
						  "SCRATCH_MEMORY_FREE",
						  "SCRATCH_MEMORY_ASYNC_RECLAIM", NULL };
static const char *const kernel_operations[] = { "KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE",
						 "KERNEL_DISPATCH_COMPLETE", NULL };
static const char *const marker_operations[] = { "roctxMarkA", "roctxThreadRangeA",
						 "roctxProcessRangeA", NULL };

static const char *const *const fixed_operations[AMD_KINDS_MAX] = {
	[KIND_COPY] = copy_operations,       [KIND_MEMORY] = memory_operations,
	[KIND_SCRATCH] = scratch_operations, [KIND_KERNEL] = kernel_operations,
	[KIND_MARKER] = marker_operations,
};

static uint32_t count_fixed(enum amd_kind kind)
{
	uint32_t count = 0;

	while (fixed_operations[kind] && fixed_operations[kind][count])
		count++;
	return count;
}

/* If AMD has no number for it: the most similar one. */
static const char *nearest_operation(const char *operation)
{
	static const char *const nearest[][2] = {
		{ "MEMORY_ALLOCATION_REALLOCATE", "MEMORY_ALLOCATION_ALLOCATE" },
		{ "MEMORY_ALLOCATION_RECLAIM", "MEMORY_ALLOCATION_FREE" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(nearest); i++)
		if (strcmp(operation, nearest[i][0]) == 0)
			return nearest[i][1];
	return operation;
}

uint32_t results_operation(const struct results *self, const struct amd_event *event)
{
	const char *const *fixed = fixed_operations[event->kind];
	const char *operation = nearest_operation(event->operation);

	for (uint32_t i = 0; fixed && fixed[i]; i++)
		if (strcmp(fixed[i], operation) == 0)
			return i;
	return self->operations[event->call->function - self->process->functions];
}

int results_number(struct results *self)
{
	uint32_t counts[AMD_KINDS_MAX];

	self->operations = calloc(MAX(self->process->function_count, 1u), sizeof(uint32_t));
	if (!self->operations)
		return -ENOMEM;
	for (unsigned kind = 0; kind < AMD_KINDS_MAX; kind++)
		counts[kind] = count_fixed(kind);
	for (uint32_t i = 0; i < self->process->function_count; i++)
		self->operations[i] = counts[amd_kind_of(&self->process->functions[i])]++;
	return 0;
}

/* Their operations are AMD's alone: limpet's function for all of them has no name there. */
static bool is_work(enum amd_kind kind)
{
	return kind == KIND_COPY || kind == KIND_MEMORY || kind == KIND_SCRATCH ||
	       kind == KIND_KERNEL;
}

void results_operations(const struct results *self, enum amd_kind kind)
{
	struct json *json = self->json;

	json_object(json, NULL);
	json_text(json, "kind", amd_kind_name(kind));
	json_list(json, "operations");
	for (uint32_t i = 0; i < count_fixed(kind); i++)
		json_text(json, NULL, fixed_operations[kind][i]);
	for (uint32_t i = 0; !is_work(kind) && i < self->process->function_count; i++)
		if (amd_kind_of(&self->process->functions[i]) == kind)
			json_text(json, NULL, self->process->functions[i].name);
	json_list_end(json);
	json_object_end(json);
}
