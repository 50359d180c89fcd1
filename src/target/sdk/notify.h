/*
 * What tools want to be told: that a runtime has registered its tables, that a thread is made.
 */
#pragma once

#include "shared/wire/page.h"

#include <stdbool.h>

/* Around the making of a thread of ours. */
void notify_thread(bool is_made);

/* Tells the tools that want to know of a table, once each.  On the thread that registers it, or
 * that holds its library. */
void notify_table(unsigned index);

/* Has the tool been shown tables?  It may have put functions of its own into them. */
bool notify_has_shown(int tool);
void notify_forget(int tool);
