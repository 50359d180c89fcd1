/*
 * What was told of counters.
 */
#pragma once

/* Its memory is given back. */
void info_forget(void);
