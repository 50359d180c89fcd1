/*
 * One visit through the door.
 */
#pragma once

/* Hello, welcome, and then the agent's control loop until the host leaves or dies.  True: this
 * thread must end, since the program is about to change its rights. */
_Bool visit_serve(int socket);
