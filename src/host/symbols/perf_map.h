/*
 * /tmp/perf-PID.map: "address size name" in hexadecimal numbers, one line for each piece of code,
 * written by a runtime that compiles while it runs.
 */
#pragma once

#include "host/symbols/jit_names.h"

#include <sys/types.h>

#define PERF_MAP_END 64u
#define PERF_MAP_MAX (256u << 20) /* bytes that are read, also of a file that is written anew */

/* Followed while it grows.  Zero is one that was not found yet. */
struct perf_map {
	pid_t pid;      /* whose it is */
	int fd;         /* 0: none; open from the first find on, also after the process has ended */
	uint64_t read;  /* whole lines so far */
	uint64_t total; /* the same with what was written anew: there is an end to it */
	uint64_t looked_ns;     /* what is new now came after this; 0: before */
	char end[PERF_MAP_END]; /* the last bytes of what was read: is it still the same text? */
	size_t end_size;
};

/* Takes whole lines; how many bytes they were.  What is no such line is passed over. */
size_t perf_map_lines(struct jit_names *names, const char *text, size_t size, uint64_t born_ns);

/* Reads what has come since the last time, where it was found.  A file that was written anew is
 * read from its begin.  -ENOMEM. */
int perf_map_read(struct perf_map *map, struct jit_names *names) MUST_CHECK;

/* The same; looks for it first, in the root of the process and by its number there.  -ENOENT while
 * there is none, -EACCES when it is somebody else's. */
int perf_map_follow(struct perf_map *map, pid_t pid, struct jit_names *names) MUST_CHECK;

void perf_map_close(struct perf_map *map);
