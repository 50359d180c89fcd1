/*
 * A process that had one thread before the attach has one again when limpet's threads have ended;
 * libc would go on taking locks for ever.  One more short stop of that thread sets libc back.
 */
#pragma once

#include "host/attach/attach.h"

/* Finds, before the stop, libc's words that mark a process with one thread. */
void single_look(const struct target *target, struct job *job);

/* After the stop: keeps what is needed to restore them. */
void single_keep(struct single *self, const struct job *job);

/* Called when limpet's threads have ended.  NULL, or what remains, as a message. */
const char *single_give_back(struct attachment *self);
