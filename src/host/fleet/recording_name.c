/*
 * Names of files from names of nodes.  Runs at both ends.
 */
#include "host/fleet/recording_name.h"

#include "host/fleet/rank.h"

#include <stdio.h>
#include <string.h>

#define NODE_LETTERS_MAX 100

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

const char *recording_name(uint32_t rank, const char *node, pid_t pid, char ret[RECORDING_NAME_MAX])
{
	int used = rank == RANK_NONE ? 0 : snprintf(ret, RECORDING_NAME_MAX, "rank-%05u-", rank);
	char *name = ret + used;

	used += snprintf(name, RECORDING_NAME_MAX - (size_t)used, "%.*s", NODE_LETTERS_MAX,
			 *node ? node : "node");
	for (char *at = name; *at; at++)
		if (!strchr(letters, *at) || (at == name && *at == '.'))
			*at = '-';
	snprintf(ret + used, RECORDING_NAME_MAX - (size_t)used, "-%d" RECORDING_EXTENSION, pid);
	return ret;
}
