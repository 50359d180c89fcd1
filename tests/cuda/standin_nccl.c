/*
 * STAND-IN, for tests only, of NVIDIA's libnccl.so.2: hands data on to nobody.  Who asks a
 * communicator that is not ready is counted.  In no way NVIDIA's.
 */
#include "standin_nccl.h"

#include <string.h>

struct standin_communicator {
	int rank, ranks;
	bool is_ready;
};

static struct standin_communicator all[2] = { { 3, 8, true }, { 1, 2, false } };
static uint32_t broken;

STANDIN_EXPORT struct standin_communicator *standin_communicator(bool is_ready)
{
	return &all[!is_ready];
}

STANDIN_EXPORT uint32_t standin_nccl_broken(void)
{
	return broken;
}

static int ask(const struct standin_communicator *communicator, int value, int *ret)
{
	if (!communicator->is_ready) {
		broken++;
		return NCCL_INVALID_ARGUMENT;
	}
	*ret = value;
	return NCCL_SUCCESS;
}

STANDIN_EXPORT int ncclCommUserRank(const struct standin_communicator *communicator, int *ret)
{
	return ask(communicator, communicator->rank, ret);
}

STANDIN_EXPORT int ncclCommCount(const struct standin_communicator *communicator, int *ret)
{
	return ask(communicator, communicator->ranks, ret);
}

static int reduce(const void *from, void *to, size_t bytes,
		  const struct standin_communicator *communicator)
{
	if (!communicator->is_ready)
		return NCCL_IN_PROGRESS;
	memcpy(to, from, bytes);
	return NCCL_SUCCESS;
}

STANDIN_EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
				 struct standin_communicator *communicator, void *stream)
{
	(void)operation;
	(void)stream;
	return reduce(from, to, type == NCCL_FLOAT ? 4 * count : count, communicator);
}

STANDIN_EXPORT int ncclReduce(const void *from, void *to, size_t count, int type, int operation,
			      int root, struct standin_communicator *communicator, void *stream)
{
	(void)operation;
	(void)root;
	(void)stream;
	return reduce(from, to, type == NCCL_FLOAT ? 4 * count : count, communicator);
}

STANDIN_EXPORT int ncclSend(const void *from, size_t count, int type, int peer,
			    struct standin_communicator *communicator, void *stream)
{
	(void)from;
	(void)count;
	(void)type;
	(void)peer;
	(void)stream;
	return communicator->is_ready ? NCCL_SUCCESS : NCCL_IN_PROGRESS;
}
