/*
 * Shared by the files of the C API.
 */
#pragma once

#include "limpet/limpet.h"

#include "host/session/session.h"
#include "host/session/tree/tree.h"

#define EXPORT __attribute__((visibility("default")))

struct limpet {
	pid_t pid;
	uint64_t start_tick; /* if it differs, the number was reused by another process */
	bool is_attached;
	struct session session;
	struct tree *tree; /* with LIMPET_CHILDREN, in the place of the session */
	struct session_left left;
};

/* Callers may have a shorter or a longer struct: copies the common part, except the size.  The
 * caller's struct may be NULL. */
void api_copy_in(void *to, const void *from, size_t size);
void api_copy_out(void *to, const void *from, size_t size);

/* Copies the error into the caller's struct, if there is one (ret may be NULL); returns its
 * code. */
int api_report(const struct err *err, struct limpet_error *ret);
