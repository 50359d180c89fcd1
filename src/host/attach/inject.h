/*
 * Plans the one stop and has it carried out.
 */
#pragma once

#include "host/attach/attach.h"

/* Brings a thread of ours into the target; attachment->context then is where it lives. */
int inject(struct attachment *self, const struct attach_options *options,
	   struct err *err) MUST_CHECK;
