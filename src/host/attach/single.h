/*
 * A process that had one thread before we came has one again when our threads are gone; libc would
 * go on taking locks for ever.  Told by one more short stop of that thread.
 */
#pragma once

#include "host/attach/attach.h"

/* Reads, before the stop, which of libc's words say that there is one thread. */
void single_look(const struct target *target, struct job *job);

/* After it: keeps what is needed to put them back. */
void single_keep(struct single *self, const struct job *job);

/* When our threads are gone.  NULL, or what stays, for a person. */
const char *single_give_back(struct attachment *self);
