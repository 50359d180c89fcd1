/*
 * The facts about a process that determine its position in a family.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct lineage {
	pid_t pid, parent;
	pid_t session;       /* 0 when it is not known */
	uint64_t start_tick; /* 0 when it is not known */
	bool has_ended;      /* a zombie: its children may live */
};

/* -ESRCH when there is no such process. */
int lineage_read(pid_t pid, struct lineage *ret) MUST_CHECK;

/*
 * Every living process in /proc, older ones first: a parent comes before its children.  The caller
 * frees *ret.
 */
int lineage_read_all(struct lineage **ret, size_t *ret_count, struct err *err) MUST_CHECK;

/*
 * The living descendants of a process, without itself, parents first; without limpet and the
 * processes it started.  The caller frees *ret.
 */
int descendants_list(pid_t root, pid_t **ret, size_t *ret_count, struct err *err) MUST_CHECK;
