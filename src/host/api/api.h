/*
 * What the files of the C API share.
 */
#pragma once

#include "limpet/limpet.h"

#include "host/session/session.h"
#include "host/session/tree/tree.h"

#define EXPORT __attribute__((visibility("default")))

struct limpet {
	pid_t pid;
	uint64_t start_tick; /* another one: the number belongs to another process now */
	bool is_attached;
	struct session session;
	struct tree *tree; /* with LIMPET_CHILDREN, in the place of the session */
	struct session_left left;
};

/* Callers may know a shorter or a longer struct: what both know is copied, but for its size. */
void api_copy_out(void *to, const void *from, size_t size);

/* Shows the error to the caller, who may not want it (NULL); returns its code. */
int api_report(const struct err *err, struct limpet_error *ret);
