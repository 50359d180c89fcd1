/*
 * One visit through the door.
 */
#pragma once

#include "shared/wire/door.h"

#include <stdbool.h>

/* Serves who has rung: offer, hello, welcome, and then the agent's control loop until the host
 * leaves or dies.  Where there is a reason to refuse everybody, that is told.  True: this thread
 * must end, since the program is about to change its rights. */
bool visit_serve(int bell, enum door_refusal refusal);
