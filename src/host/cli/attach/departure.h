/*
 * How attach and detach report that limpet has left a process.
 */
#pragma once

#include "host/session/session.h"

struct departure {
	pid_t pid;
	const char *reason; /* for programs: "duration", "asked", ... */
	const char *words;  /* for people: the whole line */
	bool is_unloaded;
	const struct session_left *left;
};

void departure_print(const struct departure *departure, bool is_json);
