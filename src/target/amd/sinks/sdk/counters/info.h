/*
 * Memory of counter descriptions that tools have queried.
 */
#pragma once

/* Forgets them: their memory is freed by counters_close(). */
void info_forget(void);
