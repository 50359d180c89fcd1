/*
 * The file name of a rank's recording, the same at both ends.
 */
#pragma once

#include "shared/base/macros.h"

#include <sys/types.h>

#define RECORDING_NAME_MAX  160u
#define RECORDING_EXTENSION ".limpet"

/* "rank-00005-n2-4711.limpet"; "n2-4711.limpet" if its number is unknown (RANK_NONE).  Names of
 * nodes are foreign: characters that could lead out of a folder are replaced. */
const char *recording_name(uint32_t rank, const char *node, pid_t pid,
			   char ret[RECORDING_NAME_MAX]);
