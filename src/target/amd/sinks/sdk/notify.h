/*
 * Notifies tools of registered tables, and of threads that limpet creates.
 */
#pragma once

#include "shared/wire/page.h"

#include <stdbool.h>

/* Called before and after limpet creates a thread. */
void notify_thread(bool is_made);

/* Notifies subscribed tools of a table, each of them once. Called on the thread that registers the
 * table, or on one that holds its library. */
void notify_table(unsigned index);

/* Has the tool been shown tables? Then it may have stored its own functions in them. */
bool notify_has_shown(int tool);
void notify_forget(int tool);
