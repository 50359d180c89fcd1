/*
 * What the recording of a rank is called, by both ends alike.
 */
#pragma once

#include "shared/base/macros.h"

#include <sys/types.h>

#define RECORDING_NAME_MAX  160u
#define RECORDING_EXTENSION ".limpet"

/* "rank-00005-n2-4711.limpet"; "n2-4711.limpet" where nothing tells its number (RANK_NONE).  Names
 * of nodes are foreign: what could lead out of a folder is replaced. */
const char *recording_name(uint32_t rank, const char *node, pid_t pid,
			   char ret[RECORDING_NAME_MAX]);
