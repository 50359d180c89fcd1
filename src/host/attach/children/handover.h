/*
 * Passes a descriptor, or the reason why there is none, from limpet's child to limpet.
 */
#pragma once

#include "shared/base/macros.h"

/* In the child: system calls only, none of which can be cancelled.  code: 0, or -errno, and then fd
 * is ignored. */
void handover_send(int way, int code, int fd);

/* Receives a descriptor, or the child's code; -EIO when it sent nothing. */
int handover_receive(int way) MUST_CHECK;
