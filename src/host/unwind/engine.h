/*
 * The runtime that made the code in a mapping without a file.
 */
#pragma once

#include "host/unwind/space.h"

/* How its frames are unwound. */
enum engine_frames {
	FRAMES_BY_POINTER, /* it keeps a frame pointer, as far as known */
	FRAMES_BY_ENTRY,   /* all its code has the frame of the trampoline that enters it */
	FRAMES_OF_LUAJIT,  /* searched for: shared/unwind/luajit.h */
	FRAMES_NONE,       /* not at all */
};

struct engine {
	const char *name;   /* as people call it */
	const char *path;   /* the name of code without symbols: "[JIT of erlang]" */
	const char *naming; /* how its functions get names; NULL: not possible */
	enum engine_frames frames;
	const char *option; /* makes it keep a frame pointer on x86-64; NULL */
};

/* Code of an unknown runtime has an engine, too.  The mapping's own name counts first, then the
 * other mappings of the process. */
const struct engine *engine_of(const struct space *space, const struct space_range *range);
/* A file that is no ELF object, in which a runtime keeps generated code (sbcl.core). */
bool engine_has_image(const struct module *module);
/* By its `path`, as recordings have it; NULL: not one of these. */
const struct engine *engine_by_path(const char *path);
