/*
 * /tmp/perf-PID.map: "address size name" in hexadecimal numbers, one line for each piece of code,
 * written by a runtime that compiles while it runs.
 */
#pragma once

#include "host/symbols/jit/jit_names.h"

#include <sys/types.h>

#define PERF_MAP_END 64u
#define PERF_MAP_MAX (256u << 20) /* bytes that are read, also of a file that is written anew */

/* Followed while it grows.  Zero is one that was not found yet. */
struct perf_map {
	pid_t pid;      /* the process */
	int fd;         /* 0: none; open from the first find on, also after the process has ended */
	uint64_t read;  /* whole lines so far */
	uint64_t total; /* including rewritten text: limits it */
	uint64_t looked_ns;     /* new names came after this; 0: before */
	char end[PERF_MAP_END]; /* the last bytes read: to detect another text */
	size_t end_size;
};

/* Parses whole lines; returns their number of bytes.  Skips invalid lines. */
size_t perf_map_lines(struct jit_names *names, const char *text, size_t size, uint64_t born_ns);

/* Reads what was added since the last time, if the file was found.  A rewritten file is read from
 * its beginning.  -ENOMEM. */
int perf_map_read(struct perf_map *map, struct jit_names *names) MUST_CHECK;

/* The same; first opens the map in the root of the process, by its number there.  -ENOENT while
 * there is none, -EACCES when another user owns it. */
int perf_map_follow(struct perf_map *map, pid_t pid, struct jit_names *names) MUST_CHECK;

void perf_map_close(struct perf_map *map);
