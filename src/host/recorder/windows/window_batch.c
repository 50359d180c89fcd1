/*
 * Collects windows, and writes them in batches.
 */
#include "host/recorder/windows/windows.h"

#include "host/core/clock.h"
#include "host/core/room.h"

#include <errno.h>

#define BATCH_WINDOWS 4096u
#define BATCH_AGE_NS  100000000u

int window_batch_flush(struct window_batch *batch, struct err *err)
{
	int r = batch->count ? recording_windows(batch->recording, batch->items,
						 (uint32_t)batch->count, err)
			     : 0;

	batch->count = 0;
	return r;
}

int window_batch_add(struct window_batch *batch, const struct recorded_metric *metric,
		     const struct recorded_window *window, struct err *err)
{
	uint64_t now = now_ns();

	if (batch->options.observe)
		batch->options.observe(batch->options.context, metric, window);
	if (make_room(&batch->items, batch->count, &batch->room, sizeof(*batch->items)))
		return err_set(err, -ENOMEM, "counters: no memory");
	if (!batch->count)
		batch->since_ns = now;
	batch->items[batch->count++] = *window;
	return batch->count == BATCH_WINDOWS || now - batch->since_ns >= BATCH_AGE_NS
		       ? window_batch_flush(batch, err)
		       : 0;
}
