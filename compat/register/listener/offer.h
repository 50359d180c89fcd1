/*
 * The socket pair of one visit: one end is kept, the other is offered to a host, which takes it out
 * of this process with pidfd_getfd().  That it has it is the kernel's word that it may trace us.
 */
#pragma once

#include "shared/wire/listener.h"
#include "target/runtime/identity.h"

#include <stdbool.h>

/* Makes the pair, and says hello on it. */
bool offer_make(const struct listener_hello *hello, struct listener_offer *ret);

/* Waits until a host has taken its end and said hello there; the kept end, or -1 when it did not
 * in time or has hung up `bell`, or this thread must end. */
int offer_await(int bell, const struct listener_hello *hello, struct identity_watch *identity);

/* Closes what is left of the pair. */
void offer_end(void);

/* The same in a child of fork, whose parent goes on with it.  Async-signal-safe. */
void offer_forget(void);
