/*
 * The process at the other end of a connection to the listener.
 */
#pragma once

#include "shared/wire/listener.h"

/*
 * Tells strangers off before they are waited for.  This is not the proof that the peer may come in:
 * that is the kernel's, when it lets the peer take what is offered (wire/listener.h).  ptrace asks
 * for no namespaces of processes and files, so these are asked for here.
 */
enum listener_refusal peer_judge(int socket);
