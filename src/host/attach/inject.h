/*
 * Plans the one stop and has it carried out.
 */
#pragma once

#include "host/attach/attach.h"

/* Brings a thread of ours into the target; attachment->context then is where it lives.  The
 * injector holds the lock too, in case it outlives us. */
int inject(struct attachment *self, const struct attach_options *options, int lock,
	   struct err *err) MUST_CHECK;
