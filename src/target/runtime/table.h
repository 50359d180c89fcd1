/*
 * The table of descriptors that a thread has.  The kernel gives the lowest free number to each new
 * descriptor, so whatever limpet has in the program's table takes a number that the program expects
 * for itself.
 */
#pragma once

#include <stdbool.h>

/* Gives the calling thread a table of its own in which there is nothing, or only `kept`; -1: none.
 * The program's descriptors stay as they are, also its locks.  False: it is as it was. */
bool table_leave(int kept);
