/*
 * Names for frames of traced calls while they are recorded: the recording has them only at its end.
 * They come from this machine's files, if those are the same; each frame is resolved once.
 */
#pragma once

#include "host/core/pool.h"
#include "host/core/table.h"
#include "host/model/model.h"

struct symbolizer;
struct sample_location;

struct call_name {
	const char *function, *module; /* live as long as the names, or the model */
};

/* Zero is empty. */
struct call_names {
	struct symbolizer *symbolizer;
	size_t code_count;  /* of the recording, in the symbolizer by their numbers */
	struct table found; /* (frame): one of `functions` */
	struct pool functions;
};

/* For a function in a stack (stack_next).  Later models of the same session may be used: frames
 * keep their numbers.  False: no memory. */
bool call_names_find(struct call_names *names, const struct samples *samples, uint32_t frame,
		     const struct sample_location *location, struct call_name *ret);
void call_names_done(struct call_names *names);
