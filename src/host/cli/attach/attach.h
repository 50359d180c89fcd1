/*
 * limpet attach: what is printed about sessions, and sessions of whole families.
 */
#pragma once

#include "host/session/session.h"

void show_attached(const struct session *session, bool is_json);

/* The end of a session; `line` is for people, the rest for programs. */
struct departure {
	pid_t pid;
	const char *reason; /* "duration", "asked", ... */
	bool is_unloaded;
	const struct session_left *left;
};
void show_detached(const struct departure *departure, const char *line, bool is_json);

/* limpet attach --children. */
struct tree_visit {
	const struct session_options *session;
	uint64_t duration_ns;
	bool unload, is_json;
	int signals; /* from ending_prepare() */
};
int tree_visit(pid_t root, const struct tree_visit *visit, struct err *err) MUST_CHECK;
