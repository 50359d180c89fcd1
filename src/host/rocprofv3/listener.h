/*
 * The caller of a job: a program on a terminal, or a thread inside another program.
 */
#pragma once

#include "host/core/self/ending.h"

/* As in AMD's --log-level. */
enum say_level { SAY_FATAL, SAY_ERROR, SAY_WARNING, SAY_INFO, SAY_TRACE };

struct job_listener {
	void (*say)(void *context, enum say_level level, const char *text);
	/* Waits for that long, or until it is over. */
	enum ending (*wait)(void *context, int pidfd, uint64_t time_ns);
	/* It is attached, or waits for its first period. */
	void (*begun)(void *context);
	/* A file is complete. */
	void (*file)(void *context, const char *path);
	void *context;
};

void listener_say(const struct job_listener *listener, enum say_level level, const char *format,
		  ...) PRINTF_LIKE(3, 4);
/* An error with its reason and remedy. */
void listener_say_error(const struct job_listener *listener, enum say_level level,
			const struct err *err);
