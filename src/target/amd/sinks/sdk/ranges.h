/*
 * Ranges of roctx: contexts get each range as one event, from its begin to its end.
 */
#pragma once

/* No context wants ranges any more: discards those that are open. */
void ranges_forget(void);
