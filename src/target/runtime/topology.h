/*
 * What AMD's driver tells of its nodes, in files of its own.
 */
#pragma once

#include <stddef.h>

/* A file of a node: "properties" has lines "name number".  Raw system calls only; how many bytes
 * were read, with a 0 behind them; 0: there is none. */
size_t topology_read(unsigned node, const char *name, char *text, size_t room);
