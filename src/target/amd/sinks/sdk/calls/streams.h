/*
 * Notifies contexts which HIP stream a call creates, uses or destroys.
 */
#pragma once

#include "target/amd/sinks/sdk/service.h"

enum stream_use { STREAM_NONE, STREAM_MADE, STREAM_GONE, STREAM_USED };

/* Notes what a function does with a stream, and which argument the stream is. */
void stream_find(const struct signature *signature, const struct api_table *table,
		 struct call_slot *slot);

/* Called around a call with a stream argument. */
void stream_before(struct call_frame *frame);
void stream_after(struct call_frame *frame);
