/*
 * Where calls of locks and of I/O were made from: a site is a call stack and a function.
 */
#pragma once

#include "host/core/rows.h"
#include "host/model/model.h"
#include "host/model/statistics.h"

#define CALL_SITE_DOMAINS (DOMAIN_BIT(LOCK) | DOMAIN_BIT(IO))

struct call_site {
	const struct model_process *process;
	const struct trace_function *function;
	const struct model_thread *thread; /* if threads are distinguished */
	uint32_t stack;                    /* STACK_NONE: without one */
	enum stack_end stack_end;
	uint64_t begin_ns; /* of its first call */
	struct statistics statistics;
};

/* Zero is empty. */
struct call_sites {
	struct call_site *rows;
	uint32_t count;
	struct row_index by_site;
	uint32_t domains;  /* bits; 0: CALL_SITE_DOMAINS */
	bool is_by_thread; /* sites of different threads are different */
};

/* The site of a call: functions are numbered through all processes, stacks and threads through the
 * recording. */
struct row_key call_site_key(const struct call *call, bool is_by_thread);

/* Ignores calls of other domains.  0 or -ENOMEM. */
int call_sites_add(struct call_sites *sites, const struct call *call) MUST_CHECK;
/* By domain, then by time. */
void call_sites_sort(struct call_sites *sites);
void call_sites_done(struct call_sites *sites);
