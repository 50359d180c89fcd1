/*
 * Collects items until they fill a chunk.
 */
#include "host/recorder/samples/pending.h"

/* Reserves room for a head first. */
void pending_begin(struct pending *pending, uint32_t first)
{
	static const char head[NUMBERED_HEAD_BYTES];

	if (pending->bytes.size)
		return;
	pending->head = (struct numbered_head){ .first = first };
	pending->packer = (struct sample_packer){ 0 };
	bytes_put(&pending->bytes, head, sizeof(head));
}

int pending_write(struct pending *pending, enum chunk_kind kind, struct recording *recording,
		  struct err *err)
{
	int r;

	if (!pending->head.count)
		return 0;
	numbered_set(&pending->bytes, &pending->head);
	r = recording_samples(recording, kind, &pending->bytes, err);
	pending->bytes.size = 0;
	pending->head.count = 0;
	return r;
}

void pending_done(struct pending *pending)
{
	bytes_done(&pending->bytes);
}
