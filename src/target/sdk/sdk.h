/*
 * The SDK's part in the life of tools: what lifecycle tells it.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* libc's functions, as they were told last; NULL: nobody has. */
void sdk_learn(const struct boot_libc *libc);
const struct boot_libc *sdk_libc(void);

/* Before a tool is configured.  False when there is no memory: then its services stay silent. */
bool sdk_prepare(const struct boot_libc *libc);

/* On a thread of the runner's.  A tool has been initialized, or is attached again: it is told of
 * the tables that are there, and its contexts see calls from now on. */
void sdk_tool_ready(int tool);

/* Its contexts have been stopped: waits until no thread is in its callbacks, delivers what its
 * buffers hold.  How many threads are still inside. */
unsigned sdk_tool_rest(int tool);
/* Then, once it has been told: threads end, tables are as they were. */
void sdk_tool_leave(int tool);

/* It has been finalized. */
void sdk_tool_forget(int tool);

/* Is one attached? */
bool sdk_has_tools(void);

/* A register library hands over a table: the thread is the one that registers it.  Or a thread of
 * the runner's, which holds its library. */
void sdk_table_came(unsigned index, bool has_restarted);

/* Must the library of a tool stay, and why?  NULL: no. */
const char *sdk_tool_hindrance(int tool);
/* The same for this library. */
const char *sdk_hindrance(void);

/* This library is about to be unmapped, since there is no hindrance: unmaps the memory that tools
 * without API tables have made it map. */
void sdk_close(void);

/* Threads of ours for it. */
unsigned sdk_own_threads(void);

/* A forked child. */
void sdk_adopt(void);
