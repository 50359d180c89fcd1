/*
 * The report of attach and detach about the end of a session.
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
