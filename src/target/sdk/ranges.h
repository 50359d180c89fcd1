/*
 * Ranges of roctx: contexts are told of each from its begin to its end, as one.
 */
#pragma once

/* Nobody wants to know of them any more: those that are open are forgotten. */
void ranges_forget(void);
