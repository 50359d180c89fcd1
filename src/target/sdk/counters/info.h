/*
 * What was told of counters.
 */
#pragma once

/* Its memory is given back; that of ids, too. */
void info_forget(void);
void listing_forget(void);
