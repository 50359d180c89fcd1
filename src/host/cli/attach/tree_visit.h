/*
 * limpet attach --children: the visit to a whole family.
 */
#pragma once

#include "host/session/session.h"

struct tree_visit {
	const struct session_options *session;
	uint64_t duration_ns;
	bool unload, is_json;
	int signals; /* from ending_prepare() */
	/* How one process that was attached is shown. */
	void (*show_attached)(const struct session *session, bool is_json);
};

int tree_visit(pid_t root, const struct tree_visit *visit, struct err *err) MUST_CHECK;
