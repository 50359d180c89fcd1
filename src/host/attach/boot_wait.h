/*
 * The time between the stop and the first message: our threads start in the target by themselves.
 */
#pragma once

#include "host/attach/attach.h"
#include "shared/wire/boot.h"

/* What they have written down; -ENOENT when their region is gone. */
int boot_context_read(const struct attachment *self, struct boot_context *ret) MUST_CHECK;

/* Says what failed there. */
int boot_fail(const struct boot_context *boot, struct err *err);

/* Until our thread in the target has its socket. */
int boot_await_socket(const struct attachment *self, struct boot_context *ret,
		      struct err *err) MUST_CHECK;

/* Takes our end of it. */
int boot_take_socket(struct attachment *self, const struct boot_context *boot,
		     struct err *err) MUST_CHECK;
