/*
 * The starter stays while the control thread has a descriptor table of its own: the starter, and
 * threads that it creates, have the target's. It runs one errand at a time for the control thread.
 */
#pragma once

#include "shared/wire/boot.h"

enum errand_state {
	ERRAND_NONE,
	ERRAND_ASKED,
	ERRAND_OVER, /* the starter must end */
};

/* On the starter: runs errands until it must end. */
void starter_serve(struct boot_context *boot);

/* On the control thread: has the starter call work(argument), and waits for it. */
void starter_ask(struct boot_context *boot, void (*work)(void *argument), void *argument);

/* Ends the starter and waits until it has ended; may be repeated. */
void starter_dismiss(struct boot_context *boot);
