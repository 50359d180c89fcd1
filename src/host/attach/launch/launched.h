/*
 * A program that a command of limpet's has started.  Terminal, input and output are the program's;
 * what ends a command elsewhere, Ctrl-C or SIGTERM, is for the program to decide here.
 */
#pragma once

#include "host/attach/launch/launch.h"
#include "host/core/self/ending.h"

struct launched {
	struct launch launch;
	int signals;
};

/* Starts it and returns when it waits before its beginning; on failure there is no program.
 * loads_library: one that no library can be loaded into is refused, others are made ready for it.
 */
int launched_start(struct launched *ret, char *const argv[], bool loads_library,
		   struct err *err) MUST_CHECK;

/* ENDING_DURATION or ENDING_EXIT.  Signals to us alone are passed on to it; those of the terminal
 * it has got itself. */
enum ending launched_wait(struct launched *launched, uint64_t time_ns);
/* The same; ends early when the socket says POLLRDHUP.  -1: there is none. */
enum ending launched_watch(struct launched *launched, int socket, uint64_t time_ns);

/* Waits for its end.  Where it was not let go, it is killed. */
void launched_finish(struct launched *launched);
