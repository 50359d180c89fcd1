/*
 * Plans the one stop and runs the injector for it.
 */
#pragma once

#include "host/attach/attach.h"

/* Makes limpet's thread in the target; attachment->context is then its address.  The injector holds
 * the lock too, in case it outlives limpet. */
int inject(struct attachment *self, const struct attach_options *options, int lock,
	   struct err *err) MUST_CHECK;
