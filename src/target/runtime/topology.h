/*
 * Reads the files of AMD's driver about its nodes.
 */
#pragma once

#include <stddef.h>

/* Reads a file of a node: "properties" has lines "name number". Only raw system calls; returns the
 * number of bytes, with a 0 behind them; 0: there is none. */
size_t topology_read(unsigned node, const char *name, char *text, size_t room);
