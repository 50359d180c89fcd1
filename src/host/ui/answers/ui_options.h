/*
 * What a page is started with.
 */
#pragma once

#include "host/core/text/json.h"

#include <sys/types.h>

struct source_options;

struct ui_options {
	const char *version;                 /* of limpet */
	uint16_t port;                       /* 0: any free one */
	const char *socket;                  /* a socket file instead; NULL */
	pid_t pid;                           /* sampled from the beginning; 0 */
	const char *files[2];                /* recordings that are opened; NULL */
	const struct source_options *record; /* the recording to show; NULL */
	uint64_t lease_ns; /* tracing stops after so long without requests of a browser; 0: never */
	/* The user who started it, also through sudo. */
	uid_t user;
	gid_t group;
	/* Writes members of an object: "machine", "features", "sampling" (cli/doctor_members.h). */
	void (*examine)(struct json *json, pid_t pid);
};
