/*
 * One visit through the door.
 */
#pragma once

#include "shared/wire/door.h"

/* Serves who has rung: offer, hello, welcome, and then the agent's control loop until the host
 * leaves or dies.  Where there is a reason to refuse everybody, that is told. */
void visit_serve(int bell, enum door_refusal refusal);
