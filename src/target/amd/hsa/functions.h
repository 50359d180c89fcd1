/*
 * HSA's functions that limpet itself calls, behind its own stubs, and the public layouts of what
 * they return. A queue's doorbell is a signal; the device decrements a packet's completion signal
 * after executing the packet, and stores begin and end there.
 */
#pragma once

#include "target/amd/hsa/layouts.h"

#include <stdbool.h>

struct hsa_time {
	uint64_t begin_ns, end_ns; /* of CLOCK_BOOTTIME */
};

typedef int hsa_visit(uint64_t handle, void *data);
typedef int hsa_visit_of(uint64_t executable, uint64_t handle, void *data);
typedef int hsa_visit_symbol(uint64_t executable, uint64_t agent, uint64_t symbol, void *data);
typedef bool hsa_on_signal(int64_t value, void *data);

struct hsa_functions {
	int (*system_info)(uint32_t what, void *ret);
	int (*extension)(uint16_t extension, uint16_t version, size_t size, void *ret);
	int (*iterate_agents)(hsa_visit *visit, void *data);
	int (*agent_info)(uint64_t agent, uint32_t what, void *ret);
	int (*iterate_regions)(uint64_t agent, hsa_visit *visit, void *data);
	int (*iterate_pools)(uint64_t agent, hsa_visit *visit, void *data);
	int (*pool_info)(uint64_t pool, uint32_t what, void *ret);
	int (*pool_allocate)(uint64_t pool, size_t size, uint32_t flags, void **ret);
	int (*pool_free)(void *memory);
	int (*allow_access)(uint32_t count, const uint64_t *agents, const uint32_t *flags,
			    const void *memory);
	int (*signal_create)(int64_t value, uint32_t count, const void *consumers, uint64_t *ret);
	int (*signal_destroy)(uint64_t signal);
	int64_t (*signal_load)(uint64_t signal);
	void (*signal_store)(uint64_t signal, int64_t value);
	int (*on_signal)(uint64_t signal, uint32_t condition, int64_t value, hsa_on_signal *call,
			 void *data);
	int (*queue_create)(uint64_t agent, uint32_t size, uint32_t type, void *on_fault,
			    void *data, uint32_t private_bytes, uint32_t group_bytes,
			    const struct hsa_queue **ret);
	int (*queue_destroy)(const struct hsa_queue *queue);
	int (*queue_info)(const struct hsa_queue *queue, uint32_t what, void *ret);
	uint64_t (*load_read)(const struct hsa_queue *queue);
	uint64_t (*load_write)(const struct hsa_queue *queue);
	uint64_t (*cas_write)(const struct hsa_queue *queue, uint64_t expected, uint64_t value);
	int (*profile_queue)(const struct hsa_queue *queue, int is_on);
	int (*profile_copies)(bool is_on);
	int (*dispatch_time)(uint64_t agent, uint64_t signal, struct hsa_time *ret);
	int (*copy_time)(uint64_t signal, struct hsa_time *ret);
	int (*each_symbol)(uint64_t executable, uint64_t agent, hsa_visit_symbol *visit,
			   void *data);
	int (*symbol_info)(uint64_t symbol, uint32_t what, void *ret);
	int (*executable_info)(uint64_t executable, uint32_t what, void *ret);
};

/* What functions are needed for; others may be NULL. */
enum hsa_need {
	NEED_AGENTS = 1,
	NEED_TIMES = 2,  /* of packets and copies */
	NEED_CODE = 4,   /* code objects, by the loader's extension */
	NEED_QUEUES = 8, /* packets that count, in queues of limpet */
	NEED_RINGS = 16, /* likewise, in application queues */
};

/* The runtime's functions as last found, for threads in a call of the runtime, and for others
 * inside the gate (runtime/hsa_gate.h). */
extern struct hsa_functions hsa_calls;
/* Finds them in the tables of the first runtime; false: one of those needed is missing. Called
 * while the runtime's library is held, or in a call of it. */
bool hsa_find(unsigned needs);

/* A reference that keeps HSA's library mapped. */
struct agent_table;
struct hsa_library {
	void *handle; /* NULL: no reference */
	const struct agent_table *known;
	const uint64_t *entries; /* of its core table */
};
/* These functions enter the loader. False: no HSA runtime is known, or it was unmapped. Releases
 * the reference held before. */
bool hsa_library_hold(struct hsa_library *ret);
void hsa_library_leave(struct hsa_library *self);

enum hsa_lack { LACKS_NOTHING, LACKS_FUNCTIONS, LACKS_OWN_FUNCTIONS };
/* The functions of that library itself. If a table has another tool's function instead, it is not
 * used: its library may be unmapped at any time, and it would mistake limpet's calls for the
 * application's. */
enum hsa_lack hsa_find_own(const struct hsa_library *library, unsigned needs,
			   struct hsa_functions *ret);

/* HSA's agent of that driver node; 0: none. */
uint64_t hsa_agent_of_node(const struct hsa_functions *functions, uint32_t node);
/* A pool of host memory that devices can read, write and execute; 0: none. */
uint64_t hsa_host_pool(const struct hsa_functions *functions);
