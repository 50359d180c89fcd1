/*
 * Calls whose device work was not reported yet: their correlation ids are retired after it.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* One more launch of the call. */
void open_call_note(uint64_t internal);
/* A launch was reported. True: it was the last of a call that has returned. */
bool open_call_end_one(uint64_t internal);
/* The call has returned; if it failed, its launches are dropped. True: some are still open. */
bool open_call_return(uint64_t internal, bool has_failed);

/* In a forked child. */
void open_calls_adopt(void);
