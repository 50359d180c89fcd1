/*
 * What limpet can do here: each feature with the level it gets, the right it misses and the command
 * for that.
 */
#pragma once

#include "host/process/rights/rights.h"

enum feature_grade { FEATURE_NONE, FEATURE_PART, FEATURE_FULL };

struct finding {
	enum feature_grade grade;
	const char *level;   /* what one gets: "any process" */
	const char *missing; /* the right that gives more; "" at the highest level */
	const char *fix;     /* the command that gives it */
};

struct feature {
	const char *name;
	const char *verbs; /* what it is for */
	struct finding (*examine)(const struct rights *rights);
};

/* Ends with an entry that has no name. */
extern const struct feature features[];
