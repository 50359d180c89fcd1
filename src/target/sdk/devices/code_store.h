/*
 * What is known of code objects and kernels, for ever: tools may look at names long after a code
 * object is gone.
 */
#pragma once

#include "target/sdk/abi.h"

#include <stdbool.h>

#define OBJECTS_MAX 4096u
#define KERNELS_MAX 32768u
#define BUCKETS     16384u
#define TEXT_BYTES  (8u << 20)

/* As tools see them. */
struct code_object_data {
	uint64_t size, id;
	struct sdk_handle agent;
	uint64_t hsa_agent;
	const char *uri;
	uint64_t base, bytes;
	int64_t delta;
	uint32_t storage;
	union {
		int32_t file;
		struct {
			uint64_t memory, memory_bytes;
		};
	};
};
_Static_assert(sizeof(struct code_object_data) == 88, "as in the headers");

struct code_kernel_data {
	uint64_t size, id, code_object;
	const char *name;
	uint64_t object;
	uint32_t kernarg, kernarg_alignment, group, private;
	uint32_t sgprs, vgprs, accumulators;
	int64_t entry_offset;
	uint64_t address;
};
_Static_assert(sizeof(struct code_kernel_data) == 88, "as in the headers");

struct code_object {
	struct code_object_data data;
	uint64_t executable, handle;
	uint64_t told; /* bits: contexts */
	bool is_gone;
};

struct code_kernel {
	struct code_kernel_data data;
	uint64_t told;
	uint32_t next; /* an older one of the same bucket, and one */
	bool is_gone;
};

struct code_store {
	uint32_t object_count, kernel_count, text_used;
	struct code_object objects[OBJECTS_MAX];
	struct code_kernel kernels[KERNELS_MAX];
	uint32_t buckets[BUCKETS]; /* by the name: the newest kernel, and one */
	char text[TEXT_BYTES];
};
extern struct code_store *code_store; /* NULL: nothing was ever kept */

/* One at a time; false: it takes too long, or the calling thread has it already. */
bool code_store_lock(void);
void code_store_unlock(void);
void code_store_adopt(void);

/* Under the lock: makes it; room for a text of that length; a kernel. */
bool code_store_open(void);
char *code_store_text(uint32_t length);
struct code_kernel *code_store_add(const char *name, uint64_t code_object);

/* The number of the kernel that packets know by that object, 0: none.  Takes no lock. */
uint64_t code_store_find_object(uint64_t object);
/* The number of the newest kernel of that name, 0: none.  Takes no lock. */
uint64_t code_store_find(const char *name);
