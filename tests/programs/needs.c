/*
 * A program whose filter lets pass what attaching says it needs (shared/wire/needs.c, linked in),
 * what the program's own loop needs, and nothing else.  NEEDS_WITHOUT names one call that is left
 * out too, by its number; NEEDS_ERRNO is the answer then, instead of death.
 */
#define _GNU_SOURCE
#include "shared/wire/needs.h"
#include "filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RULES_MAX 128

static const unsigned int own[] = { SYS_write, SYS_clock_nanosleep, SYS_restart_syscall,
				    SYS_exit_group };

static struct rule list[RULES_MAX];
static size_t count;

static void rule_add(unsigned int number, unsigned int action)
{
	if (count == RULES_MAX - 1)
		workload_skip("too many rules");
	list[count++] = (struct rule){ number, action };
}

static unsigned int number_of(const char *variable, unsigned int otherwise)
{
	const char *text = getenv(variable);

	return text ? (unsigned int)strtoul(text, NULL, 10) : otherwise;
}

/* The first rule for a number counts. */
static void rules_make(unsigned int when)
{
	unsigned int without = number_of("NEEDS_WITHOUT", ~0u);
	unsigned int code = number_of("NEEDS_ERRNO", 0);

	if (without != ~0u)
		rule_add(without, code ? SECCOMP_RET_ERRNO | code : ACTION_KILL);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		rule_add(own[i], ACTION_ALLOW);
	for (size_t i = 0; i < needs_count; i++)
		if (needs[i].when & when)
			rule_add((unsigned int)needs[i].nr, ACTION_ALLOW);
	list[count] = (struct rule)END;
}

static void needs_run(const void *data)
{
	atomic_store(&stats->pid, (uint64_t)getpid()); /* which the filter may take away */
	rules_make(*(const unsigned int *)data);
	filter_install(&(const struct rules){ ACTION_KILL, list });
	workload_ready();
	workload_idle();
}

/* Not a target: shows the list to the driver, "number may_fail when name" a line. */
static void list_run(const void *data)
{
	(void)data;
	for (size_t i = 0; i < needs_count; i++)
		printf("%ld %d %d %s\n", needs[i].nr, needs[i].may_fail, (int)needs[i].when,
		       needs[i].name);
	exit(0);
}

const struct workload workloads[] = {
	{ "always", needs_run, &(const unsigned int){ NEED_ALWAYS } },
	{ "variables", needs_run, &(const unsigned int){ NEED_ALWAYS | NEED_FOR_VARIABLES } },
	{ "list", list_run, NULL },
	{ NULL, NULL, NULL },
};
