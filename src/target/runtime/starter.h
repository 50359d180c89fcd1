/*
 * The starter stays while the control thread has a descriptor table of its own: it has the
 * program's, and so do the threads that it makes.  One errand at a time, for the control thread.
 */
#pragma once

#include "shared/wire/boot.h"

enum errand_state {
	ERRAND_NONE,
	ERRAND_ASKED,
	ERRAND_OVER, /* the starter is to end */
};

/* On the starter: does what is asked, until it is to end. */
void starter_serve(struct boot_context *boot);

/* On the control thread: has work(argument) done, and waits for it. */
void starter_ask(struct boot_context *boot, void (*work)(void *argument), void *argument);

/* Ends the starter and waits until it is gone; again does nothing. */
void starter_dismiss(struct boot_context *boot);
