/*
 * A descriptor, or why there is none, from a child that limpet has made to limpet.
 */
#pragma once

#include "shared/base/macros.h"

/* In the child: system calls only, none of which can be cancelled.  code: 0, or -errno, and then
 * fd counts for nothing. */
void handover_send(int way, int code, int fd);

/* What has been sent: a descriptor, or the child's code; -EIO when it said nothing. */
int handover_receive(int way) MUST_CHECK;
