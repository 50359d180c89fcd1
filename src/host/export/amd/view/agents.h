/*
 * The devices of a process as AMD's files list them: agents.
 */
#pragma once

#include "host/core/table.h"
#include "host/core/text/json.h"
#include "host/model/model.h"

/* The choices of -A. */
enum agent_index {
	AGENT_RELATIVE,      /* "Agent 1" */
	AGENT_ABSOLUTE,      /* the same here: limpet's numbers have no gaps to be counted out */
	AGENT_TYPE_RELATIVE, /* "GPU 0" */
};

#define AGENT_TEXT_MAX 128u

/* The agent number for a device that the recording does not identify: no runtime gives it. */
#define AGENT_UNKNOWN 255u

enum agent_property {
#define PROPERTY(name, text) AGENT_##name,
#include "host/export/amd/view/agent_properties.def"
	AGENT_PROPERTIES,
};

struct agent_dimensions {
	uint32_t x, y, z;
};

struct agent {
	uint64_t number;
	bool is_cpu;
	uint32_t type_index; /* among those of its type: given, else in order */
	bool has_index;
	char name[AGENT_TEXT_MAX], vendor[AGENT_TEXT_MAX], product[AGENT_TEXT_MAX],
		model[AGENT_TEXT_MAX];
	uint64_t properties[AGENT_PROPERTIES]; /* 0: not known */
	struct agent_dimensions workgroup, grid;
};

struct agents {
	struct agent *items; /* by number, those found later at the end */
	size_t count, room;
	struct table by_number; /* (number, 0): index and one */
	uint32_t cpus, gpus;    /* the next index of each type */
};

/* Those of each process of the model, by its number, or of one process only: at first the agents
 * that the process has names for.  NULL: no memory. */
struct agents *agents_new(const struct model *model, const struct model_process *only);
/* Accepts NULL. */
void agents_free(struct agents *agents, const struct model *model);

/* The number of a device that a record names. */
uint64_t agent_number(uint64_t device);

/* One that is not known becomes so, number 0 as the host's processor and all others as devices.
 * NULL: no memory.  Valid until the next call. */
const struct agent *agents_find(struct agents *agents, const struct model_process *process,
				uint64_t device);

const char *agent_type(const struct agent *agent);              /* "CPU", "GPU" */
const char *agent_property_name(enum agent_property property);  /* "cpu_cores_count" */
void agent_write(struct json *json, const struct agent *agent); /* an object, as AMD has it */
void agent_label(const struct agent *agent, enum agent_index index, char *ret, size_t room);
