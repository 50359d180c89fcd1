/*
 * Traces imported functions of NCCL: how many bytes each call transfers, its rank, and the number
 * of ranks. The rank is queried after a successful call with the communicator: the query only reads
 * the communicator's memory. NCCL would print a warning for a communicator under construction.
 */
#include "target/domains/cuda/cuda.h"

#include "target/hooks/writer.h"

#define UNKNOWN UINT64_MAX
#define NO_PEER UINT8_MAX

/* Indexed by ncclDataType_t. */
static const uint8_t type_bytes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };

/* Indices of a function's arguments. */
struct shape {
	uint8_t count, type, communicator, peer;
};

typedef int ask_communicator(uint64_t communicator, int *ret);
static ask_communicator *ask_rank, *ask_ranks;

/* Hooks are prepared under the loader's lock: dlsym cannot be called. */
static ask_communicator *find_beside(const struct hook *hook, const char *name)
{
	return (ask_communicator *)beside_find(hook->original, name).begin;
}

static void prepare_ranks(struct hook *hook, const struct function_name *name)
{
	(void)name;
	__atomic_store_n(&ask_rank, find_beside(hook, "ncclCommUserRank"), __ATOMIC_RELAXED);
	__atomic_store_n(&ask_ranks, find_beside(hook, "ncclCommCount"), __ATOMIC_RELAXED);
}

static uint64_t communicator_ask(ask_communicator **slot, uint64_t communicator)
{
	ask_communicator *ask = __atomic_load_n(slot, __ATOMIC_RELAXED);
	int value = 0;

	return ask && !ask(communicator, &value) && value >= 0 ? (uint64_t)value : UNKNOWN;
}

static uint64_t bytes_of(const struct hook_frame *frame, const struct shape *shape)
{
	uint32_t type = (uint32_t)hook_argument(frame, shape->type);

	return type < ARRAY_SIZE(type_bytes) ? hook_argument(frame, shape->count) * type_bytes[type]
					     : UNKNOWN;
}

static traced_write write_collective;

#define COMMUNICATES(name)                                                              \
	{                                                                               \
		name, NULL, DOMAIN_NCCL, HOOK_ANY, write_collective, NULL, 6,           \
			{ { VALUE_RESULT, 0 }, { VALUE_SIZE, 0 },  { VALUE_OBJECT, 0 }, \
			  { VALUE_RANK, 0 },   { VALUE_RANKS, 0 }, { VALUE_PEER, 0 } }, \
			.prepare = prepare_ranks                                        \
	}
#define STATUS(name)                                               \
	{                                                          \
		name, NULL, DOMAIN_NCCL, HOOK_WIDE, NULL, NULL, 1, \
		{                                                  \
			{                                          \
				VALUE_RESULT, CAPTURE_RESULT_INT   \
			}                                          \
		}                                                  \
	}

static const struct shape shapes[] = {
	{ 2, 3, 5, NO_PEER }, { 2, 3, 4, NO_PEER }, { 2, 3, 5, NO_PEER }, { 2, 3, 5, 4 },
	{ 1, 2, 4, 3 },       { 2, 3, 6, 5 },       { 2, 3, 4, NO_PEER }, { 2, 3, 5, 4 },
	{ 2, 3, 5, 4 },       { 1, 2, 4, 3 },       { 1, 2, 4, 3 },
};
static const struct traced calls[] = {
	COMMUNICATES("ncclAllReduce"),
	COMMUNICATES("ncclAllGather"),
	COMMUNICATES("ncclReduceScatter"),
	COMMUNICATES("ncclBroadcast"),
	COMMUNICATES("ncclBcast"),
	COMMUNICATES("ncclReduce"),
	COMMUNICATES("ncclAlltoAll"),
	COMMUNICATES("ncclGather"),
	COMMUNICATES("ncclScatter"),
	COMMUNICATES("ncclSend"),
	COMMUNICATES("ncclRecv"),
	STATUS("ncclGroupStart"),
	STATUS("ncclGroupEnd"),
	STATUS("ncclCommInitRank"),
	STATUS("ncclCommInitRankConfig"),
	STATUS("ncclCommInitRankScalable"),
	STATUS("ncclCommInitAll"),
	STATUS("ncclCommSplit"),
	STATUS("ncclCommShrink"),
	STATUS("ncclCommFinalize"),
	STATUS("ncclCommDestroy"),
	STATUS("ncclCommAbort"),
	STATUS("ncclMemAlloc"),
	STATUS("ncclMemFree"),
};

/* Functions of RCCL have the same names; RCCL is traced by its API tables. */
static void write_collective(struct writer *writer, const struct hook *hook,
			     const struct hook_frame *frame, uint64_t end)
{
	const struct shape *shape = &shapes[hook->traced - calls];
	uint64_t communicator = hook_argument(frame, shape->communicator);
	bool is_done = !(int32_t)frame->results[0];
	const uint64_t values[] = {
		(uint64_t)(int64_t)(int32_t)frame->results[0],
		bytes_of(frame, shape),
		communicator,
		is_done ? communicator_ask(&ask_rank, communicator) : UNKNOWN,
		is_done ? communicator_ask(&ask_ranks, communicator) : UNKNOWN,
		shape->peer == NO_PEER ? UNKNOWN : (uint32_t)hook_argument(frame, shape->peer),
	};
	struct record_call call = {
		{ 0, 0, ARRAY_SIZE(values) }, hook->function, frame->begin, end
	};

	(void)writer_call(writer, &call, values);
}

const struct domain_hooks hooks_nccl = { DOMAIN_NCCL, calls, ARRAY_SIZE(calls), NULL };
