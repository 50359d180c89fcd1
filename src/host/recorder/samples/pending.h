/*
 * A list of numbered items on its way into a recording: a head, then packed items.
 */
#pragma once

#include "host/recording/pack_samples.h"
#include "host/recording/recording.h"

struct pending {
	struct bytes bytes;
	struct numbered_head head; /* its count: the items behind it */
	struct sample_packer packer;
};

/* Before each item: the first one of a chunk has this number. */
void pending_begin(struct pending *pending, uint32_t first);
/* Writes nothing where there is no item. */
int pending_write(struct pending *pending, enum chunk_kind kind, struct recording *recording,
		  struct err *err) MUST_CHECK;
void pending_done(struct pending *pending);

static inline void pending_done_at_scope_end(struct pending *pending)
{
	pending_done(pending);
}
