/*
 * Which runtime has made the code in a mapping without a file.
 */
#pragma once

#include "host/unwind/space.h"

/* How its frames are found. */
enum engine_frames {
	FRAMES_BY_POINTER, /* it keeps a frame pointer, as far as is known */
	FRAMES_BY_ENTRY,   /* all its code has the frame of the trampoline that enters it */
	FRAMES_OF_LUAJIT,  /* they can be looked for: shared/unwind/luajit.h */
	FRAMES_NONE,       /* nothing of this */
};

struct engine {
	const char *name;   /* as people call it */
	const char *path;   /* what its code is called where nothing names it: "[JIT of erlang]" */
	const char *naming; /* how its functions get their names; NULL: there is no way */
	enum engine_frames frames;
	const char *option; /* with which it keeps a frame pointer all the same, on x86-64; NULL */
};

/* Code of nobody that is known has one, too.  The mapping's own name counts first, then what else
 * the process has mapped. */
const struct engine *engine_of(const struct space *space, const struct space_range *range);
/* A file that is no ELF object, in which a runtime keeps code that it made (sbcl.core). */
bool engine_has_image(const struct module *module);
/* By its `path`, as recordings have it; NULL: it is none. */
const struct engine *engine_by_path(const char *path);
