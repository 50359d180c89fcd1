/*
 * The time between the stop and the first message, while limpet's threads start in the target.
 */
#pragma once

#include "host/attach/attach.h"
#include "shared/wire/boot.h"

/* Reads the context that these threads fill in; -ENOENT when their region is unmapped. */
int boot_context_read(const struct attachment *self, struct boot_context *ret) MUST_CHECK;

/* Describes the failure in the target. */
int boot_fail(const struct boot_context *boot, struct err *err);

/* Waits until limpet's thread in the target has its socket. */
int boot_await_socket(const struct attachment *self, struct boot_context *ret,
		      struct err *err) MUST_CHECK;

/* Takes the host's end of it. */
int boot_take_socket(struct attachment *self, const struct boot_context *boot,
		     struct err *err) MUST_CHECK;
