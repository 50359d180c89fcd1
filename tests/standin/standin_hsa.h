/*
 * STAND-IN, for tests only.  The few functions of HSA that the stand-in libhsa-runtime64.so.2
 * exports.
 */
#pragma once

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hsa_signal {
	uint64_t handle;
};

/* The public part of a queue, and a packet for it. */
struct hsa_queue {
	uint32_t type, features;
	uint64_t base, doorbell;
	uint32_t size, reserved;
	uint64_t id;
};
struct hsa_packet {
	uint16_t header, setup, group[3], reserved0;
	uint32_t grid[3], private_bytes, group_bytes;
	uint64_t kernel, arguments, reserved1, completion;
};

int hsa_init(void);
int hsa_shut_down(void);
/* The next hsa_init() does not return, but goes there. */
void standin_hsa_leave_init(jmp_buf *to);
/* For the only user: shuts the runtime down while another thread, whose call no tool sees, deletes
 * it.  Its own call is over first.  False: nobody changed the tables meanwhile. */
bool standin_hsa_overlap(void);
int hsa_signal_create(int64_t value, uint32_t consumer_count, const void *consumers,
		      struct hsa_signal *ret);
int64_t hsa_signal_load_relaxed(struct hsa_signal signal);
void hsa_signal_store_relaxed(struct hsa_signal signal, int64_t value);

int hsa_signal_destroy(struct hsa_signal signal);
void hsa_signal_store_screlease(struct hsa_signal signal, int64_t value);
int64_t hsa_signal_wait_scacquire(struct hsa_signal signal, uint32_t condition, int64_t value,
				  uint64_t timeout, int state);
int hsa_queue_create(uint64_t agent, uint32_t size, uint32_t type, void *callback, void *data,
		     uint32_t private_bytes, uint32_t group_bytes, struct hsa_queue **ret);
int hsa_queue_destroy(struct hsa_queue *queue);
/* Another handle of the queue; what is left of one that was given back ends whoever uses it. */
struct hsa_queue *standin_hsa_borrow(struct hsa_queue *queue);
void standin_hsa_return(struct hsa_queue *queue);
/* In its number: the program serves it itself, and knows kernels only. */
#define STANDIN_SOFT 0x80000000ull
uint64_t hsa_queue_load_read_index_relaxed(const struct hsa_queue *queue);
uint64_t hsa_queue_add_write_index_relaxed(const struct hsa_queue *queue, uint64_t more);
int hsa_amd_signal_async_handler(struct hsa_signal signal, uint32_t condition, int64_t value,
				 bool (*call)(int64_t value, void *data), void *data);
int hsa_executable_freeze(uint64_t executable, const char *options);
int hsa_amd_memory_async_copy(void *to, uint64_t to_agent, const void *from, uint64_t from_agent,
			      size_t size, uint32_t count, const struct hsa_signal *signals,
			      struct hsa_signal signal);

/* The address that packets have of a kernel: three of executable 7000, which is loaded, are called
 * hsa_kernel_0 to 2, and three of 7001, which is not before it is frozen; in a runtime that has
 * started again none is loaded.  This one ends when it is told to. */
#define STANDIN_ENDLESS 0x7777
uint64_t standin_hsa_kernel(unsigned number);
void standin_hsa_release(void);

/* Three agents: the host and two devices; each has one pool.  A runtime that was shut down and
 * starts again has others.  Agents and pools are structures of one word in the real one. */
int hsa_iterate_agents(int (*visit)(uint64_t agent, void *data), void *data);
int hsa_agent_get_info(uint64_t agent, uint32_t what, void *ret);
int hsa_agent_iterate_regions(uint64_t agent, int (*visit)(uint64_t region, void *data),
			      void *data);
int hsa_amd_agent_iterate_memory_pools(uint64_t agent, int (*visit)(uint64_t pool, void *data),
				       void *data);
int hsa_amd_memory_pool_allocate(uint64_t pool, size_t size, uint32_t flags, void **ret);
int hsa_amd_memory_pool_free(void *memory);
uint64_t standin_hsa_pool(uint32_t agent);
/* Pieces of memory that were allocated and not freed. */
unsigned standin_hsa_memory(void);
uint64_t standin_hsa_agent(uint32_t node);

/* A kernel needs scratch memory, and gives it back: tells a tool, as the real one does. */
void standin_hsa_scratch(uint64_t queue, size_t size);

/* Calls a function of the image extension and one of the finalizer's. */
void standin_hsa_extensions(void);

/* What the counters of devices were told: "bank STARTS STOPS READS". */
void standin_bank_print(void);

/* The tables, after hsa_init(). */
void standin_hsa_print(void);
