/*
 * One connection of a host to the listener.
 */
#pragma once

#include "shared/wire/listener.h"
#include "target/runtime/identity.h"

#include <stdbool.h>

/* Serves the peer that has connected: offer, hello, welcome, and then the agent's control loop
 * until the host detaches or dies.  With a refusal, sends it to the peer instead.  True: this
 * thread must end, since the program is about to change its rights. */
bool connection_serve(int bell, enum listener_refusal refusal, struct identity_watch *identity);

/* In a child of fork, whose parent still uses them: closes its descriptors.  Async-signal-safe. */
void connection_forget(void);
