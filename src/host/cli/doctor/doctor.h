/*
 * limpet's features on this machine: each with its level, the missing right and the command that
 * gives it; and how limpet gets rights.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/process/rights/rights.h"

#include <sys/types.h>

enum feature_grade { FEATURE_NONE, FEATURE_PART, FEATURE_FULL };

struct finding {
	enum feature_grade grade;
	const char *level;   /* the level reached: "any process" */
	const char *missing; /* the right for more; "" at the highest level */
	const char *fix;     /* the command that gives the right */
};

struct feature {
	const char *name;
	const char *verbs; /* the verbs that need it */
	struct finding (*examine)(const struct rights *rights);
};

/* Ends with an entry that has no name. */
extern const struct feature features[];

/* Adds what `limpet doctor` finds to a JSON object that the caller has opened: the members
 * "machine", "features" and "sampling"; pid 0: tries sampling on limpet itself. */
void doctor_write_members(struct json *json, pid_t pid);

/* Prints the commands that give a group rights, never runs them. */
void doctor_setup(bool is_json);
