/*
 * The end of the program.  In exit() runtimes are taken down by what they have registered for it,
 * and must not be asked for anything from then on: whoever asks them goes in here first.
 */
#pragma once

#include <stdbool.h>

/* What is called on the thread that ends the program: before and after all else that exit() calls,
 * which may well use runtimes still. */
void ending_use(void (*leave)(void), void (*give_up)(void));
/* exit() calls us before all that was registered up to now: again when modules have come. */
void ending_watch(void);
/* And no more. */
void ending_forget(void);
/* In a forked child: what it has of this is its parent's. */
void ending_adopt(void);

/* False: the program is ending.  On threads of ours. */
bool ending_enter(void) __attribute__((warn_unused_result));
void ending_leave(void);
