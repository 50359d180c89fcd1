/*
 * The process at the other end of a connection to the listener.
 */
#pragma once

#include "shared/wire/listener.h"

/*
 * Refuses unsuitable peers early.  It does not prove the peer's right: the kernel does, when it
 * lets the peer take the offered socket (wire/listener.h).  ptrace does not check namespaces of
 * processes and files, so this does.
 */
enum listener_refusal peer_judge(int socket);
