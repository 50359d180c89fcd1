/*
 * The variables a process was started with.  Runs on nodes; stops nothing.
 */
#include "host/fleet/find/variables.h"

#include "host/core/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than the kernel allows at exec: three quarters of its largest stack, 6 MiB. */
#define ENVIRON_MAX ((size_t)8 << 20)

int variables_read(struct variables *ret, pid_t pid)
{
	char path[64];

	*ret = (struct variables){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	return text_read_file(path, ENVIRON_MAX, &ret->text, &ret->size);
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
