/*
 * Sections that a linker has packed: SHF_COMPRESSED (zlib, zstd), and the .zdebug_ of old, which is
 * what Go wrote by default.  The sizes are foreign: no more than UNPACKED_MAX is unpacked.
 */
#pragma once

#include "host/unwind/object.h"

#define UNPACKED_MAX ((uint64_t)256 << 20)

/* A section by name, or by its name of old (".debug_frame": ".zdebug_frame"), unpacked where it is
 * packed: *ret_owned is what to free then.  -ENOENT: there is none; -EFBIG: it would be too large;
 * -EBADMSG: it cannot be unpacked; -ENOMEM. */
int object_unpack(const struct object *object, const char *name, struct object_part *ret,
		  void **ret_owned) MUST_CHECK;
