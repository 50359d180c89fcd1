/*
 * The HTTP process: serves the page, and passes commands to the process that has the rights.
 */
#pragma once

#include "host/ui/http/guard.h"
#include "host/ui/http/server.h"

#include <sys/types.h>

struct front_options {
	int listeners[HTTP_LISTENERS_MAX]; /* -1: none */
	int broker;                        /* SOCK_SEQPACKET */
	char token[HTTP_TOKEN_SIZE];
	uid_t user;
	gid_t group;
};

/* Never returns; the process ends when the broker has ended. */
void front_run(const struct front_options *options) __attribute__((noreturn));
