/*
 * A program that a command of limpet has started.  Terminal, input and output are the program's;
 * Ctrl-C or SIGTERM, which would end another command, are left to the program here.
 */
#pragma once

#include "host/attach/launch/launch.h"
#include "host/core/self/ending.h"

struct launched {
	struct launch launch;
	int signals;
};

/* Starts the program and returns when it waits before its first instruction; on failure there is no
 * program.  loads_library: a program that no library can be loaded into is refused, others are
 * prepared for it. */
int launched_start(struct launched *ret, char *const argv[], bool loads_library,
		   struct err *err) MUST_CHECK;

/* ENDING_DURATION or ENDING_EXIT.  Passes on signals to limpet alone; the program has got those of
 * the terminal itself. */
enum ending launched_wait(struct launched *launched, uint64_t time_ns);
/* The same; returns early at POLLRDHUP of the socket.  -1: no socket. */
enum ending launched_watch(struct launched *launched, int socket, uint64_t time_ns);

/* Waits for its end.  Kills it if it was not let go. */
void launched_finish(struct launched *launched);
