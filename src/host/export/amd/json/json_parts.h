/*
 * The parts of one process in AMD's results.json.
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
/* The list of operations of a kind. */
void results_operations(const struct results *self, enum amd_kind kind);
int results_records(struct results *self) MUST_CHECK;
/* The requested counters, and their values. */
void results_counters(const struct results *self);
int results_counted(struct results *self) MUST_CHECK;

void json_handle(struct json *json, const char *key, uint64_t handle);
void json_empty_list(struct json *json, const char *key);
