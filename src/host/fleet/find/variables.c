/*
 * Variables as the process was begun with.  Runs on nodes; stops nothing.
 */
#include "host/fleet/find/variables.h"

#include "host/process/procfs.h"

#include <stdlib.h>
#include <string.h>

int variables_read(struct variables *ret, pid_t pid)
{
	struct err ignored = { 0 };

	*ret = (struct variables){ 0 };
	return proc_read(pid, "environ", &ret->text, &ret->size, &ignored);
}

void variables_done(struct variables *variables)
{
	free(variables->text);
	*variables = (struct variables){ 0 };
}

/* The last entry may lack its zero, but the text has one. */
const char *variables_value(const struct variables *variables, const char *name)
{
	const char *end = variables->text + variables->size;
	size_t length = strlen(name);

	for (const char *at = variables->text; at < end; at += strlen(at) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	return NULL;
}
