/*
 * One connection of a host to the listener.
 */
#pragma once

#include "shared/wire/listener.h"
#include "target/runtime/identity.h"

#include <stdbool.h>

/* Serves who has connected: offer, hello, welcome, and then the agent's control loop until the host
 * leaves or dies.  Where there is a reason to refuse everybody, that is told.  True: this thread
 * must end, since the program is about to change its rights. */
bool connection_serve(int bell, enum listener_refusal refusal, struct identity_watch *identity);
