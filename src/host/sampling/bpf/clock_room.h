/*
 * What the kernel needs long for before the first clocks of threads, done beside other work: it
 * begins to tell perf of switches, and makes room for descriptors; for both it waits until all
 * processors have noticed.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

struct clock_room {
	pid_t pid;
	pthread_t thread;
	bool is_running;
	int event; /* -1: none */
};

/* Returns at once.  That it fails shows only in the time that clocks take. */
void clock_room_begin(struct clock_room *room, pid_t pid);
/* Waits for it. */
void clock_room_await(struct clock_room *room);
/* The clocks are there. */
void clock_room_done(struct clock_room *room);
