/*
 * Reads the device work of accepted enqueue calls from their arguments.
 */
#include "target/domains/opencl/command.h"

#define MAP_WRITES    6u /* CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION */
#define MIGRATE_HOST  1u
#define MIGRATE_EMPTY 2u
#define NATIVE_KERNEL "(native)"

typedef int32_t get_group_info(opencl_object kernel, opencl_object device, uint32_t name,
			       size_t size, void *value, size_t *ret_size);

static uint64_t accepted_argument(const struct accepted *accepted, unsigned index)
{
	return hook_argument(&accepted->around->frame, index);
}

static uint64_t region_bytes(const struct accepted *accepted, unsigned region, unsigned image)
{
	const size_t *counts = (const size_t *)accepted_argument(accepted, region);
	size_t element = 1;

	if (image)
		vendor_query(accepted->vendor, ENTRY_clGetImageInfo,
			     accepted_argument(accepted, image), IMAGE_ELEMENT_SIZE, &element,
			     sizeof(element));
	return counts ? counts[0] * counts[1] * counts[2] * element : 0;
}

static uint64_t copy_bytes(const struct accepted *accepted)
{
	const struct description *description = accepted->description;

	return description->region ? region_bytes(accepted, description->region, description->image)
				   : accepted_argument(accepted, description->size);
}

static void describe_copy(const struct accepted *accepted, struct opencl_work *work)
{
	const struct description *description = accepted->description;

	work->domain = DOMAIN_COPY;
	work->copy.size = copy_bytes(accepted);
	work->copy.to = description->to ? accepted_argument(accepted, description->to) : 0;
	work->copy.from = description->from ? accepted_argument(accepted, description->from) : 0;
	work->copy.direction = description->direction;
}

/* Mapping copies the region to the host; unmapping copies it back if it was writable. */
static void describe_map(const struct accepted *accepted, struct opencl_work *work)
{
	uint64_t address = accepted->around->frame.results[0];

	describe_copy(accepted, work);
	work->copy.to = address;
	memory_note_mapping(address, work->copy.size, accepted_argument(accepted, 3) & MAP_WRITES);
}

static void describe_unmap(const struct accepted *accepted, struct opencl_work *work)
{
	bool is_written = false;
	uint64_t address = accepted_argument(accepted, accepted->description->from);
	uint64_t size = memory_mapped(address, &is_written);

	work->domain = DOMAIN_COPY;
	work->copy.size = is_written ? size : 0;
	work->copy.to = accepted->description->to ? accepted_argument(accepted, 1) : address;
	work->copy.from = address;
	work->copy.direction = COPY_HOST_TO_DEVICE;
}

static void describe_shared_map(const struct accepted *accepted, struct opencl_work *work)
{
	uint64_t address = accepted_argument(accepted, 3);

	describe_copy(accepted, work);
	memory_note_mapping(address, work->copy.size, accepted_argument(accepted, 2) & MAP_WRITES);
}

static void describe_migration(struct opencl_work *work, uint64_t size, uint64_t flags)
{
	work->domain = DOMAIN_COPY;
	work->copy.size = flags & MIGRATE_EMPTY ? 0 : size;
	work->copy.direction = flags & MIGRATE_HOST ? COPY_DEVICE_TO_HOST : COPY_HOST_TO_DEVICE;
}

static void describe_migrate(const struct accepted *accepted, struct opencl_work *work)
{
	uint32_t count = (uint32_t)accepted_argument(accepted, 1);
	const opencl_object *objects = (const opencl_object *)accepted_argument(accepted, 2);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < MIN(count, OBJECTS_MAX); i++) {
		size_t size = 0;

		vendor_query(accepted->vendor, ENTRY_clGetMemObjectInfo, objects[i], MEMORY_SIZE,
			     &size, sizeof(size));
		sum += size;
	}
	describe_migration(work, sum, accepted_argument(accepted, 3));
}

static void describe_shared_migrate(const struct accepted *accepted, struct opencl_work *work)
{
	uint32_t count = (uint32_t)accepted_argument(accepted, 1);
	const size_t *sizes = (const size_t *)accepted_argument(accepted, 3);
	uint64_t sum = 0;

	for (uint32_t i = 0; sizes && i < MIN(count, OBJECTS_MAX); i++)
		sum += sizes[i];
	describe_migration(work, sum, accepted_argument(accepted, 4));
}

static void describe_intel_migrate(const struct accepted *accepted, struct opencl_work *work)
{
	describe_migration(work, accepted_argument(accepted, 2), accepted_argument(accepted, 3));
	work->copy.to = accepted_argument(accepted, 1);
}

/* The driver frees the memory, unless the application passes a function that does so. */
static void describe_shared_free(const struct accepted *accepted, struct opencl_work *work)
{
	uint32_t count = (uint32_t)accepted_argument(accepted, 1);
	const uint64_t *addresses = (const uint64_t *)accepted_argument(accepted, 2);

	work->domain = DOMAINS;
	for (uint32_t i = 0;
	     addresses && !accepted_argument(accepted, 3) && i < MIN(count, OBJECTS_MAX); i++)
		memory_free_shared(accepted->around, addresses[i], accepted->end);
}

static uint64_t group_info(const struct accepted *accepted, opencl_object kernel, uint32_t name)
{
	get_group_info *ask =
		(get_group_info *)accepted->vendor->functions[ENTRY_clGetKernelWorkGroupInfo];
	uint64_t value = 0;

	if (!ask || !accepted->queue ||
	    ask(kernel, accepted->queue->device_handle, name, sizeof(value), &value, NULL))
		return 0;
	return value;
}

static void describe_any_kernel(const struct accepted *accepted, struct opencl_work *work)
{
	opencl_object kernel = accepted_argument(accepted, 1);

	work->domain = DOMAIN_KERNEL;
	work->kernel.name = kernel_number(accepted->vendor, kernel);
	work->kernel.dispatch = work_dispatch();
	work->kernel.local_bytes = group_info(accepted, kernel, KERNEL_LOCAL_BYTES);
	work->kernel.private_bytes = group_info(accepted, kernel, KERNEL_PRIVATE_BYTES);
	for (unsigned i = 0; i < 3; i++)
		work->kernel.grid[i] = work->kernel.group[i] = 1;
}

/* A group size chosen by the driver is unknown: 0. */
static void describe_kernel(const struct accepted *accepted, struct opencl_work *work)
{
	uint32_t dimensions = MIN((uint32_t)accepted_argument(accepted, 2), 3u);
	const size_t *grid = (const size_t *)accepted_argument(accepted, 4);
	const size_t *group = (const size_t *)accepted_argument(accepted, 5);

	describe_any_kernel(accepted, work);
	for (unsigned i = 0; i < 3; i++) {
		if (grid && i < dimensions)
			work->kernel.grid[i] = grid[i];
		work->kernel.group[i] = !group ? 0 : i < dimensions ? group[i] : 1;
	}
}

static void describe_native(const struct accepted *accepted, struct opencl_work *work)
{
	(void)accepted;
	work->domain = DOMAIN_KERNEL;
	work->kernel.name = kernel_number_of_text(NATIVE_KERNEL);
	work->kernel.dispatch = work_dispatch();
	for (unsigned i = 0; i < 3; i++)
		work->kernel.grid[i] = work->kernel.group[i] = 1;
}

/* All later commands of an out-of-order queue wait for the barrier, in both queues. */
static void describe_barrier(const struct accepted *accepted, struct opencl_work *work)
{
	const struct opencl_vendor *vendor = accepted->vendor;
	struct opencl_queue *queue = queue_find(vendor, accepted->around->frame.arguments[0]);
	opencl_object event = accepted->around->kept[KEPT_EVENT];
	bool is_in_ours = shadow_chosen(accepted->around->kept[KEPT_SHADOW]);

	work->domain = DOMAINS;
	if (queue && !queue->is_ordered && !vendor_call(vendor, ENTRY_clRetainEvent, event))
		shadow_note_barrier(queue, event, is_in_ours);
}

#define TO_DEVICE COPY_HOST_TO_DEVICE
#define TO_HOST   COPY_DEVICE_TO_HOST
#define IN_DEVICE COPY_DEVICE_TO_DEVICE
#define SHARED_FREE                     \
	{                               \
		describe_shared_free, 7 \
	}
#define SHARED_COPY                                                             \
	{                                                                       \
		describe_copy, 7, .blocking = 1, .size = 4, .to = 2, .from = 3, \
				  .direction = COPY_UNKNOWN                     \
	}
#define SHARED_FILL                                                          \
	{                                                                    \
		describe_copy, 7, .size = 4, .to = 1, .direction = IN_DEVICE \
	}
#define SHARED_MAP                                                                    \
	{                                                                             \
		describe_shared_map, 7, .blocking = 1, .size = 4, .to = 3, .from = 3, \
					.direction = TO_HOST                          \
	}
#define SHARED_UNMAP                         \
	{                                    \
		describe_unmap, 4, .from = 1 \
	}

/* clang-format off */
const struct description opencl_descriptions[OPENCL_ENTRIES] = {
	[ENTRY_clEnqueueNDRangeKernel] = { describe_kernel, 8 },
	[ENTRY_clEnqueueTask] = { describe_any_kernel, 4 },
	[ENTRY_clEnqueueNativeKernel] = { describe_native, 9 },
	[ENTRY_clEnqueueReadBuffer] = { describe_copy, 8, .blocking = 2, .size = 4, .to = 5, .from = 1, .direction = TO_HOST },
	[ENTRY_clEnqueueWriteBuffer] = { describe_copy, 8, .blocking = 2, .size = 4, .to = 1, .from = 5, .direction = TO_DEVICE },
	[ENTRY_clEnqueueCopyBuffer] = { describe_copy, 8, .size = 5, .to = 2, .from = 1, .direction = IN_DEVICE },
	[ENTRY_clEnqueueFillBuffer] = { describe_copy, 8, .size = 5, .to = 1, .direction = IN_DEVICE },
	[ENTRY_clEnqueueReadBufferRect] = { describe_copy, 13, .blocking = 2, .region = 5, .to = 10, .from = 1, .direction = TO_HOST },
	[ENTRY_clEnqueueWriteBufferRect] = { describe_copy, 13, .blocking = 2, .region = 5, .to = 1, .from = 10, .direction = TO_DEVICE },
	[ENTRY_clEnqueueCopyBufferRect] = { describe_copy, 12, .region = 5, .to = 2, .from = 1, .direction = IN_DEVICE },
	[ENTRY_clEnqueueReadImage] = { describe_copy, 10, .blocking = 2, .region = 4, .image = 1, .to = 7, .from = 1, .direction = TO_HOST },
	[ENTRY_clEnqueueWriteImage] = { describe_copy, 10, .blocking = 2, .region = 4, .image = 1, .to = 1, .from = 7, .direction = TO_DEVICE },
	[ENTRY_clEnqueueCopyImage] = { describe_copy, 8, .region = 5, .image = 1, .to = 2, .from = 1, .direction = IN_DEVICE },
	[ENTRY_clEnqueueFillImage] = { describe_copy, 7, .region = 4, .image = 1, .to = 1, .direction = IN_DEVICE },
	[ENTRY_clEnqueueCopyImageToBuffer] = { describe_copy, 8, .region = 4, .image = 1, .to = 2, .from = 1, .direction = IN_DEVICE },
	[ENTRY_clEnqueueCopyBufferToImage] = { describe_copy, 8, .region = 5, .image = 2, .to = 2, .from = 1, .direction = IN_DEVICE },
	[ENTRY_clEnqueueMapBuffer] = { describe_map, 8, .blocking = 2, .size = 5, .from = 1, .direction = TO_HOST },
	[ENTRY_clEnqueueMapImage] = { describe_map, 10, .blocking = 2, .region = 5, .image = 1, .from = 1, .direction = TO_HOST },
	[ENTRY_clEnqueueUnmapMemObject] = { describe_unmap, 5, .to = 1, .from = 2 },
	[ENTRY_clEnqueueMigrateMemObjects] = { describe_migrate, 6 },
	[ENTRY_clEnqueueSVMFree] = SHARED_FREE,
	[ENTRY_clEnqueueSVMMemcpy] = SHARED_COPY,
	[ENTRY_clEnqueueSVMMemFill] = SHARED_FILL,
	[ENTRY_clEnqueueSVMMap] = SHARED_MAP,
	[ENTRY_clEnqueueSVMUnmap] = SHARED_UNMAP,
	[ENTRY_clEnqueueSVMMigrateMem] = { describe_shared_migrate, 7 },
	[ENTRY_clEnqueueSVMFreeARM] = SHARED_FREE,
	[ENTRY_clEnqueueSVMMemcpyARM] = SHARED_COPY,
	[ENTRY_clEnqueueSVMMemFillARM] = SHARED_FILL,
	[ENTRY_clEnqueueSVMMapARM] = SHARED_MAP,
	[ENTRY_clEnqueueSVMUnmapARM] = SHARED_UNMAP,
	[ENTRY_clEnqueueBarrierWithWaitList] = { describe_barrier, 3 },
	[ENTRY_clEnqueueMemcpyINTEL] = SHARED_COPY,
	[ENTRY_clEnqueueMemFillINTEL] = SHARED_FILL,
	[ENTRY_clEnqueueMigrateMemINTEL] = { describe_intel_migrate, 6 },
};
/* clang-format on */
