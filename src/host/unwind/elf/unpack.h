/*
 * Sections that a linker has compressed: SHF_COMPRESSED (zlib, zstd), and the old .zdebug_, which
 * Go wrote by default.  The sizes are foreign: at most UNPACKED_MAX is unpacked.
 */
#pragma once

#include "host/unwind/elf/object.h"

#define UNPACKED_MAX ((uint64_t)256 << 20)

/* A section by name, or by its old name (".debug_frame": ".zdebug_frame"), uncompressed: *ret_owned
 * is to be freed then.  -ENOENT: there is none; -EFBIG: it would be too large; -EBADMSG: it cannot
 * be uncompressed; -ENOMEM. */
int object_unpack(const struct object *object, const char *name, struct object_part *ret,
		  void **ret_owned) MUST_CHECK;
