/*
 * The parts of one process in AMD's results.json: its description, the names of its operations, and
 * its records.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/export/amd/view/agents.h"
#include "host/export/amd/view/stats.h"

/* One process being written. */
struct results {
	struct amd_view *view;
	const struct model_process *process;
	struct json *json;
	struct amd_stats stats;
	struct agents *agents;
	uint32_t *operations;   /* index of each function of the process among those of its kind */
	enum amd_domain domain; /* of the present pass */
};

/* Numbers the functions of the process, for the next two; 0, -ENOMEM. */
int results_number(struct results *self) MUST_CHECK;
/* The number of a record's `operation`. */
uint32_t results_operation(const struct results *self, const struct amd_event *event);
/* The list of operations of a kind. */
void results_operations(const struct results *self, enum amd_kind kind);

void results_metadata(const struct results *self);
void results_agents(const struct results *self);
int results_strings(struct results *self) MUST_CHECK;
void results_symbols(const struct results *self);
int results_records(struct results *self) MUST_CHECK;
/* The requested counters, and their values. */
void results_counters(const struct results *self);
int results_counted(struct results *self) MUST_CHECK;
/* "dispatch_info" of a kernel. */
void json_dispatch(struct json *json, const struct amd_event *event);

void json_handle(struct json *json, const char *key, uint64_t handle);
void json_empty_list(struct json *json, const char *key);
