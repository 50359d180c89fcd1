/*
 * A live view of a process, or with pid 0 of all: samples, threads, and pictures of both.
 */
#pragma once

#include "host/top/picture.h"

struct top;

struct top_options {
	struct sampling_options sampling;
	const char *version; /* of limpet */
	unsigned language; /* of the frames that are shown, as in host/model/samples/languages.h */
	bool full_paths;
	struct counter_choice *counters; /* shown with it; NULL: none.  Must outlive it */
};

/* Samples from now on. */
int top_open(struct top **ret, const struct top_options *options, struct err *err) MUST_CHECK;
void top_close(struct top *top);

static inline void top_close_at_scope_end(struct top **top)
{
	top_close(*top);
}

/* Readable when the process has ended; -1: not known, or every process. */
int top_pidfd(const struct top *top);
/* Has the process? */
bool top_has_ended(struct top *top);
/* Stops sampling; what was sampled stays. */
void top_stop(struct top *top);

/* A picture of now, the caller's to free. */
int top_snapshot(struct top *top, const struct picture_wish *wish, struct picture **ret,
		 struct err *err) MUST_CHECK;

/* Writes the kept samples to a recording; path NULL: limpet-PID.limpet (limpet-all.limpet), or
 * another name if that exists.  ret: "wrote ...". */
int top_freeze(struct top *top, const struct picture *picture, const char *path, char *ret,
	       size_t room, struct err *err) MUST_CHECK;
