/*
 * The positions of stream, sizes and addresses among the arguments of HIP calls that make commands.
 * Indices count words: a dim3 takes two.
 */
#include "target/amd/hip/launches.h"

#include "target/hooks/clock.h"

enum form {
	FORM_NONE,    /* no sizes */
	FORM_GRAPH,   /* many commands, with one question for all or one for each */
	FORM_DIM3,    /* function, dim3 groups, dim3 group, arguments, local bytes, stream */
	FORM_NUMBERS, /* function, groups x y z, group x y z, local bytes, stream */
	FORM_ITEMS,   /* the same with work items */
	FORM_CONFIG,  /* a structure with groups, group, local bytes and stream */
};

#define NO (-1)

static const struct shape {
	const char *name;
	int8_t form, stream, to, from;
	int8_t size;      /* of a copy; a kernel's function is always the first argument */
	int8_t direction; /* hipMemcpyKind, if there is one */
} shapes[] = {
	{ "hipLaunchKernel", FORM_DIM3, 7, NO, NO, NO, NO },
	{ "hipLaunchKernel_spt", FORM_DIM3, 7, NO, NO, NO, NO },
	{ "hipExtLaunchKernel", FORM_DIM3, 7, NO, NO, NO, NO },
	{ "hipLaunchCooperativeKernel", FORM_DIM3, 7, NO, NO, NO, NO },
	{ "hipLaunchCooperativeKernel_spt", FORM_DIM3, 7, NO, NO, NO, NO },
	{ "hipModuleLaunchKernel", FORM_NUMBERS, 8, NO, NO, NO, NO },
	{ "hipModuleLaunchCooperativeKernel", FORM_NUMBERS, 8, NO, NO, NO, NO },
	{ "hipExtModuleLaunchKernel", FORM_ITEMS, 8, NO, NO, NO, NO },
	{ "hipHccModuleLaunchKernel", FORM_ITEMS, 8, NO, NO, NO, NO },
	{ "hipLaunchKernelExC", FORM_CONFIG, NO, NO, NO, NO, NO },
	{ "hipDrvLaunchKernelEx", FORM_CONFIG, NO, NO, NO, NO, NO },
	{ "hipGraphLaunch", FORM_GRAPH, 1, NO, NO, NO, NO },
	{ "hipGraphLaunch_spt", FORM_GRAPH, 1, NO, NO, NO, NO },
	{ "hipMemcpy", FORM_NONE, NO, 0, 1, 2, 3 },
	{ "hipMemcpy_spt", FORM_NONE, NO, 0, 1, 2, 3 },
	{ "hipMemcpyAsync", FORM_NONE, 4, 0, 1, 2, 3 },
	{ "hipMemcpyAsync_spt", FORM_NONE, 4, 0, 1, 2, 3 },
	{ "hipMemcpyWithStream", FORM_NONE, 4, 0, 1, 2, 3 },
	{ "hipMemcpyHtoD", FORM_NONE, NO, 0, 1, 2, NO },
	{ "hipMemcpyDtoH", FORM_NONE, NO, 0, 1, 2, NO },
	{ "hipMemcpyDtoD", FORM_NONE, NO, 0, 1, 2, NO },
	{ "hipMemcpyHtoDAsync", FORM_NONE, 3, 0, 1, 2, NO },
	{ "hipMemcpyDtoHAsync", FORM_NONE, 3, 0, 1, 2, NO },
	{ "hipMemcpyDtoDAsync", FORM_NONE, 3, 0, 1, 2, NO },
	{ "hipMemcpyPeer", FORM_NONE, NO, 0, 2, 4, NO },
	{ "hipMemcpyPeerAsync", FORM_NONE, 5, 0, 2, 4, NO },
	{ "hipMemcpy2D", FORM_NONE, NO, 0, 2, NO, NO },
	{ "hipMemcpy2DAsync", FORM_NONE, 7, 0, 2, NO, NO },
	{ "hipMemset", FORM_NONE, NO, 0, NO, NO, NO },
	{ "hipMemsetAsync", FORM_NONE, 3, 0, NO, NO, NO },
	{ "hipMemsetD8Async", FORM_NONE, 3, 0, NO, NO, NO },
	{ "hipMemsetD16Async", FORM_NONE, 3, 0, NO, NO, NO },
	{ "hipMemsetD32Async", FORM_NONE, 3, 0, NO, NO, NO },
	{ "hipMemset2DAsync", FORM_NONE, 5, 0, NO, NO, NO },
};

/* The common part of hipLaunchConfig_t and HIP_LAUNCH_CONFIG. */
struct launch_config {
	uint32_t groups[3], group[3];
	uint32_t local_bytes, rest;
	uint64_t stream;
};

#define OPERATIONS_MAX 1024u
static uint8_t shape_of_operation[OPERATIONS_MAX]; /* index plus one; 0: none */
static unsigned destroy_operation, unload_operation;

void launch_shapes_prepare(void)
{
	const struct api_table *table = &api_tables[API_HIP];

	for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
		unsigned operation = api_function(table, shapes[i].name);

		if (operation < MIN(table->named, OPERATIONS_MAX))
			shape_of_operation[operation] = (uint8_t)(i + 1);
	}
	destroy_operation = api_function(table, "hipStreamDestroy");
	unload_operation = api_function(table, "hipModuleUnload");
}

enum launch_end launch_ends(const struct call_frame *frame)
{
	unsigned operation = frame->slot->operation;

	if (operation == destroy_operation)
		return ENDS_STREAM;
	return operation == unload_operation ? ENDS_FUNCTIONS : ENDS_NOTHING;
}

static void read_items(struct launch *ret, const uint32_t groups[3], const uint32_t group[3])
{
	for (unsigned i = 0; i < 3; i++) {
		ret->grid[i] = groups[i] * group[i];
		ret->group[i] = group[i];
	}
}

static void read_dim3(const struct call_frame *frame, struct launch *ret)
{
	uint64_t words[4];
	uint32_t groups[3], group[3];

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = call_argument(frame, 1 + i);
	for (unsigned i = 0; i < 3; i++) {
		groups[i] = (uint32_t)(words[i / 2] >> 32 * (i % 2));
		group[i] = (uint32_t)(words[2 + i / 2] >> 32 * (i % 2));
	}
	read_items(ret, groups, group);
	ret->local_bytes = call_argument(frame, 6);
}

static void read_numbers(const struct call_frame *frame, bool are_items, struct launch *ret)
{
	uint32_t groups[3], group[3];
	static const uint32_t one[3] = { 1, 1, 1 };

	for (unsigned i = 0; i < 3; i++) {
		groups[i] = (uint32_t)call_argument(frame, 1 + i);
		group[i] = (uint32_t)call_argument(frame, 4 + i);
	}
	read_items(ret, groups, are_items ? one : group);
	for (unsigned i = 0; i < 3; i++)
		ret->group[i] = group[i];
	ret->local_bytes = (uint32_t)call_argument(frame, 7);
}

static void read_config(const struct call_frame *frame, struct launch *ret)
{
	const struct launch_config *config = (const struct launch_config *)call_argument(frame, 0);

	if (!config)
		return;
	read_items(ret, config->groups, config->group);
	ret->local_bytes = config->local_bytes;
	ret->stream = config->stream;
}

static uint64_t argument_at(const struct call_frame *frame, int8_t index)
{
	return index == NO ? 0 : call_argument(frame, (unsigned)index);
}

static int8_t function_index(const struct shape *shape)
{
	return shape->form == FORM_CONFIG ? 1 : 0;
}

/* By hipMemcpyKind; other values do not fix the direction. */
static uint8_t direction_of(uint64_t kind)
{
	static const uint8_t directions[] = {
		[1] = COPY_HOST_TO_DEVICE, [2] = COPY_DEVICE_TO_HOST
	};

	return (uint32_t)kind < ARRAY_SIZE(directions) ? directions[(uint32_t)kind] : COPY_UNKNOWN;
}

static void read_shape(const struct call_frame *frame, const struct shape *shape,
		       struct launch *ret)
{
	ret->stream = argument_at(frame, shape->stream);
	ret->to = argument_at(frame, shape->to);
	ret->from = argument_at(frame, shape->from);
	ret->what =
		argument_at(frame, shape->form >= FORM_DIM3 ? function_index(shape) : shape->size);
	ret->direction = direction_of(argument_at(frame, shape->direction));
	ret->is_of_graph = shape->form == FORM_GRAPH;
	if (shape->form == FORM_DIM3)
		read_dim3(frame, ret);
	else if (shape->form == FORM_NUMBERS || shape->form == FORM_ITEMS)
		read_numbers(frame, shape->form == FORM_ITEMS, ret);
	else if (shape->form == FORM_CONFIG)
		read_config(frame, ret);
}

void launch_read(const struct call_frame *frame, struct launch *ret)
{
	unsigned shape;

	launch_clear(ret);
	ret->thread = call_thread_number();
	ret->asked = clock_ticks();
	if (!frame)
		return;
	ret->cause = frame->begin;
	shape = frame->slot->table == API_HIP && frame->slot->operation < OPERATIONS_MAX
			? shape_of_operation[frame->slot->operation]
			: 0;
	if (shape)
		read_shape(frame, &shapes[shape - 1], ret);
}
