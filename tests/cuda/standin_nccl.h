/*
 * STAND-IN, for tests only, of NVIDIA's libnccl.so.2, as far as limpet and its tests use it.  In no
 * way NVIDIA's.
 */
#pragma once

#include "standin_cuda.h"

enum { NCCL_SUCCESS = 0, NCCL_INVALID_ARGUMENT = 4, NCCL_IN_PROGRESS = 7 };
enum { NCCL_INT8 = 0, NCCL_FLOAT = 7 };

struct standin_communicator;

int ncclCommUserRank(const struct standin_communicator *communicator, int *ret);
int ncclCommCount(const struct standin_communicator *communicator, int *ret);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
		  struct standin_communicator *communicator, void *stream);
int ncclReduce(const void *from, void *to, size_t count, int type, int operation, int root,
	       struct standin_communicator *communicator, void *stream);
int ncclSend(const void *from, size_t count, int type, int peer,
	     struct standin_communicator *communicator, void *stream);

/* Rank 3 of 8, or rank 1 of 2 that is still being made; how often such a one was asked. */
struct standin_communicator *standin_communicator(bool is_ready);
uint32_t standin_nccl_broken(void);
