/*
 * librocprofv3-list-avail.so, which AMD's programs (rocprofv3-avail, rocprof-compute) call by
 * ctypes: the counters of this machine's devices.  Numbers of devices and counters are valid in
 * this library only.  For an unknown number the result is unchanged.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Devices; 0 also if none is known, with the reason on stderr. */
size_t get_number_of_agents(void);
void agent_handles(uint64_t *handles, size_t count);
/* JSON: type (2: a GPU), name, node_id, gpu_id. */
void agent_info(uint64_t agent, const char **ret);

size_t get_number_of_agent_counters(uint64_t agent);
void agent_counter_handles(uint64_t *handles, uint64_t agent, size_t count);
void counter_info(uint64_t counter, const char **ret_name, const char **ret_description,
		  uint8_t *ret_is_derived, uint8_t *ret_is_constant);
void counter_block(uint64_t counter, const char **ret);
void counter_expression(uint64_t counter, const char **ret);

/* The number of instances of a block is known only within a process that uses the device: here
 * there are no dimensions. */
size_t get_number_of_dimensions(uint64_t counter);
void counter_dimension_ids(uint64_t counter, uint64_t *ids, size_t count);
void counter_dimension(uint64_t counter, uint64_t dimension, const char **ret_name,
		       uint32_t *ret_instances);

/* Can all of them be counted at once? */
bool is_counter_set(const uint64_t *counters, uint64_t agent, size_t count);

/* There are none. */
size_t get_number_of_pc_sample_configs(uint64_t agent);
void pc_sample_config(uint64_t agent, uint64_t index, uint64_t *method, uint64_t *unit,
		      uint64_t *min_interval, uint64_t *max_interval, uint64_t *flags);
