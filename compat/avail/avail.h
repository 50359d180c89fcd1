/*
 * librocprofv3-list-avail.so, as AMD's programs (rocprofv3-avail, rocprof-compute) call it by
 * ctypes: which counters the devices of this machine have.  Numbers of devices and counters mean
 * something here only.  What a number does not stand for is left as it was.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Devices; 0 also where none can be told, and stderr says why. */
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

/* How often a block exists is asked of a device inside of a process: here there are none. */
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
