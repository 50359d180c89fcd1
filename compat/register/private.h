/*
 * The exports of this library beyond AMD's interface: limpet's own agent finds them by name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef int limpet_register_take(const char *name, uint64_t version, uint64_t instance,
				 void **tables, uint64_t count, void *data);

/* Passes every registration to `take`, in order, also those that another receiver had before; no
 * environment variable is read.  `take` returns 0 to accept.  Returns the number of refusals. */
__attribute__((visibility("default"))) int limpet_register_each(limpet_register_take *take,
								void *data);

/* Why the last attach or detach in this process failed; the length of the text. */
__attribute__((visibility("default"))) size_t limpet_register_reason(char *text, size_t room);
