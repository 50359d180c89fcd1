/*
 * The steps of a session; session.c calls them in order.
 */
#pragma once

#include "host/attach/facts/modules.h"
#include "host/session/options.h"

/* variables.c: the variables that the target sees while attached: those of the options, the
 * caller's that begin with ROCP, and the marks by which a tool knows that it was attached.  Checks
 * that each of the options is NAME=VALUE. */
int variables_check(const struct session_options *options, struct err *err) MUST_CHECK;
/* Are there any besides the marks? */
bool variables_are_given(const struct session_options *options);
/* Publishes them; `extra`: more of them up to a NULL, or NULL. */
int variables_publish(struct attachment *attachment, const struct session_options *options,
		      const char *const *extra, struct err *err) MUST_CHECK;

/* tools.c: how many are no library for this machine, or cannot be read; err has the first reason.
 * Reads the files only. */
size_t tools_check(const char *const *paths, size_t count, struct err *err) MUST_CHECK;
/* Loads one tool; tool->is_plain selects a plain library.  On failure the target is unchanged. */
int tool_load(struct attachment *attachment, const char *path, struct session_tool *tool,
	      struct err *err) MUST_CHECK;
/* Has the agent run one step with a loaded tool. */
int tool_step(struct attachment *attachment, struct session_tool *tool, enum tool_step step,
	      struct err *err) MUST_CHECK;

/* counters.c: sends devices' counters to the agent, for tools that use counters: only the host
 * reads definitions.  Before tools are configured; does nothing where no tool uses counters.  Where
 * there are no counters, the report's warning has the reason, and tools see none.  *ret_follows:
 * counters_follow() is due. */
int counters_send(struct attachment *attachment, const struct session_options *options,
		  bool *ret_follows, struct err *err) MUST_CHECK;
/* After tools were configured, and the last time after they were initialized: evaluates the
 * definitions that tools have brought, and sends them the result. */
int counters_follow(struct attachment *attachment, bool is_last, struct err *err) MUST_CHECK;

/* notice.c: an application thread held up by a hook makes limpet's system calls, and only the
 * filters of the thread that limpet's threads come from were checked.  Informs the agent if no
 * thread has others; called after the hooks are installed, since from then on the agent itself sees
 * new filters. */
int filters_compare(struct attachment *attachment, bool *ret_are_alike, struct err *err) MUST_CHECK;
/* Sessions that trace nothing: the agent notices when the program is about to change its rights,
 * and detaches before.  If that fails, the report has the reason. */
void notice_open(struct attachment *attachment, bool has_failed_tool);

/* unload.c: the proof before libraries are unmapped.  Adds every reason why the tools must stay
 * mapped. */
int unload_find_reasons(const struct attachment *attachment, struct session_left *ret,
			struct err *err) MUST_CHECK;
/* After unloading: the agent itself, if the loader keeps it; limpet's mappings that are still
 * there. */
void unload_find_agent(const struct attachment *attachment, struct session_left *ret);
int unload_find_leftovers(const struct attachment *attachment, const struct agent_page *before,
			  struct session_left *ret, struct err *err) MUST_CHECK;

/* tracer_unload.c: adds the reasons why limpet's own tracer must stay mapped; none where it is not
 * mapped, or may be unmapped.  Its hooks must be removed. */
void tracer_find_reasons(const struct attachment *attachment, const struct maps *maps,
			 struct session_left *left);
/* Is it mapped, without a known reason to stay for ever? */
bool tracer_can_unload(const struct attachment *attachment);

/* table_scan.c: API tables of GPU runtimes that no register library knows: found in the runtime's
 * own data by their shape. */
struct found_table {
	char name[TABLE_NAME_MAX];
	unsigned part_count;
	uint64_t parts[TABLE_PARTS_MAX];
};

#define FOUND_TABLES_MAX 4

/* The limit for all modules together: a target may name many like a runtime. */
#define TABLE_SCAN_MAX_BYTES ((uint64_t)1 << 30)

/* Searches one module; returns how many tables were found.  None for a module that is no known
 * runtime, none where the shape is found more than once, and none where the module exceeds the rest
 * of the budget. */
size_t table_scan(const struct target *target, const struct module *module, uint64_t *budget_bytes,
		  struct found_table ret[FOUND_TABLES_MAX]);
