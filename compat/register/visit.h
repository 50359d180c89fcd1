/*
 * One visit through the door.
 */
#pragma once

/* Hello, welcome, and then the agent's control loop until the host leaves or dies. */
void visit_serve(int socket);
