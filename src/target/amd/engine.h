/*
 * The SDK's part in the lifecycle of tools; called by target/lifecycle.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* Called before a tool is configured. False: no memory, and the tool's services stay silent. */
bool sdk_prepare(const struct boot_libc *libc);

/* Called on the runner's thread when a tool is initialized or attached again: shows the tool the
 * known API tables; its contexts see calls from now on. */
void sdk_tool_ready(int tool);

/* Called when the tool's contexts are stopped: waits until no thread is in its callbacks, and
 * delivers its buffers. Returns how many threads are still inside. */
unsigned sdk_tool_rest(int tool);
/* Called after the tool was detached: ends its threads, restores table entries. */
void sdk_tool_leave(int tool);

/* Called after the tool was finalized. */
void sdk_tool_forget(int tool);

/* Is a tool attached? */
bool sdk_has_tools(void);

/* A register library hands over a table. Called on the thread that registers the table, or on the
 * runner's thread, which holds the table's library. */
void sdk_table_came(unsigned index, bool has_restarted);

/* Why the library of a tool must stay mapped; NULL: it need not. */
const char *sdk_tool_hindrance(int tool);
/* The same for this library. */
const char *sdk_hindrance(void);

/* All tools were finalized: the next one may load other definitions of counters. */
void sdk_release_counters(void);
/* This library is about to be unmapped (sdk_hindrance() is NULL): unmaps what was mapped for tools
 * without API tables. */
void sdk_close(void);

/* How many of limpet's threads deliver. */
unsigned sdk_own_threads(void);

/* In a forked child. */
void sdk_adopt(void);
