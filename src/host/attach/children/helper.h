/*
 * A program that limpet carries, as a child with a socket as its standard input, for what must not
 * run in limpet or in a target.  It ends when the socket is closed.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

struct helper {
	pid_t pid;  /* 0: none */
	int socket; /* SOCK_SEQPACKET */
};

/* Takes these arguments, up to a NULL, and the caller's environment: it loads libraries from where
 * the caller would. */
int helper_start_nvml(struct helper *ret, char *const words[], struct err *err) MUST_CHECK;
/* Zero is allowed. */
void helper_end(struct helper *helper);
