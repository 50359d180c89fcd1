/*
 * Code objects and kernels, kept for ever: tools may read names long after a code object was
 * unloaded.
 */
#pragma once

#include "shared/base/macros.h"
#include <stdint.h>

#include <stdbool.h>

#define OBJECTS_MAX 4096u
#define KERNELS_MAX 32768u
#define BUCKETS     16384u
#define TEXT_BYTES  (8u << 20)

/* Layouts that tools see. */
struct code_object_data {
	uint64_t size, id;
	uint64_t agent; /* the SDK's handle, filled in by sinks/sdk */
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
	uint64_t told;  /* bits: contexts */
	bool is_listed; /* by the runtime's loader, in the last list of all */
	bool is_gone;
};

struct code_kernel {
	struct code_kernel_data data;
	uint64_t told;
	uint32_t next, next_object; /* next older kernels of the buckets, + 1 */
	bool is_gone;
};

struct code_store {
	uint32_t object_count, kernel_count, text_used;
	struct code_object objects[OBJECTS_MAX];
	struct code_kernel kernels[KERNELS_MAX];
	/* The newest kernel, + 1, by name and by the object in its packets. */
	uint32_t buckets[BUCKETS], object_buckets[BUCKETS];
	char text[TEXT_BYTES];
};
extern struct code_store *code_store; /* NULL: nothing was stored yet */

/* False: not free within two seconds, or the calling thread has the lock already. */
bool code_store_lock(void);
void code_store_unlock(void);
void code_store_adopt(void);

/* Under the lock: maps the store; reserves a string of that length; adds a kernel. */
bool code_store_open(void);
char *code_store_text(uint32_t length);
struct code_kernel *code_store_add(const char *name, uint64_t code_object);
/* Its `object` is known. */
void code_store_index(struct code_kernel *kernel);

/* The id of the kernel with that `object` in its packets; 0: none. Lock-free. */
uint64_t code_store_find_object(uint64_t object);
/* Its name, which stays; NULL: unknown. Lock-free. */
const char *code_store_name(uint64_t object);
/* The id of the newest kernel of that name; 0: none. Lock-free. */
uint64_t code_store_find(const char *name);

/* Stores the code objects of one executable (0: of all) that are not stored yet, and their kernels.
 * Called under the store's lock. False: the application may be starting or shutting down the
 * runtime; call again later. */
bool code_loader_scan(uint64_t executable);
