/*
 * The variables that a target was started with, as far as the user asked for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/collect/facts.h"
#include "host/core/cleanup.h"
#include "host/process/procfs.h"

/* "NAME=value" with this name: its value, else NULL. */
static const char *value_of(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1
									 : NULL;
}

/* Entries end with zeros; the last one may lack its own, but the text has one. */
static const char *variables_find(const char *environment, size_t size, const char *name)
{
	const char *end = environment + size;

	for (const char *at = environment; at < end; at += strlen(at) + 1) {
		const char *value = value_of(at, name);

		if (value)
			return value;
	}
	return NULL;
}

static size_t count_names(const char *const *names)
{
	size_t count = 0;

	while (names[count])
		count++;
	return count;
}

int facts_variables(struct recording *recording, pid_t pid, uint32_t number,
		    const char *const *names, struct err *err)
{
	struct recorded_variable *found = calloc(count_names(names) + 1, sizeof(*found));
	CLEANUP(free) char *environment = NULL;
	struct err unreadable;
	uint32_t count = 0;
	size_t size = 0;
	int r;

	if (!found)
		return err_set(err, -ENOMEM, "variables of %d: no memory", (int)pid);
	if (proc_read(pid, "environ", &environment, &size, &unreadable))
		size = 0;
	for (; *names; names++) {
		const char *value = size ? variables_find(environment, size, *names) : NULL;

		if (value)
			found[count++] = (struct recorded_variable){ *names, value };
	}
	r = recording_list(recording, CHUNK_VARIABLES, &(struct list_head){ number, 0, count },
			   found, err);
	free(found);
	return r;
}
