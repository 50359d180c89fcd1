/*
 * The end of the target's process. In exit(), runtimes are shut down by handlers that they have
 * registered, and must not be called from then on: threads that call a runtime enter here first.
 */
#pragma once

#include <stdbool.h>

/* Sets what runs in exit(): before and after all other handlers, which may still use runtimes. */
void ending_use(void (*first)(void), void (*last)(void));
/* Registers an exit handler, which runs before earlier ones: repeat it after modules were
 * loaded. */
void ending_watch(void);
/* Unregisters the exit handler. */
void ending_forget(void);
/* In a forked child: the registration was the parent's. */
void ending_adopt(void);

/* False: the process is ending. On limpet's threads. */
bool ending_enter(void) __attribute__((warn_unused_result));
void ending_leave(void);
