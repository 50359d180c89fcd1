/*
 * The socket pair of one connection: the thread keeps one end and offers the other to a host, which
 * takes it out of this process with pidfd_getfd().  Its possession proves by the kernel that the
 * host may trace this process.
 */
#pragma once

#include "shared/wire/listener.h"
#include "target/runtime/identity.h"

#include <stdbool.h>

/* Makes the pair, and sends hello on it. */
bool offer_make(const struct listener_hello *hello, struct listener_offer *ret);

/* Waits until a host has taken its end and sent hello on it; the kept end, or -1 when it did not in
 * time or has closed `bell`, or this thread must end. */
int offer_await(int bell, const struct listener_hello *hello, struct identity_watch *identity);

/* Closes the rest of the pair. */
void offer_end(void);

/* The same in a child of fork, whose parent still uses it.  Async-signal-safe. */
void offer_forget(void);
