/*
 * The stack of a thread as calls of the node's tree, and which of them have a line.
 */
#pragma once

#include "host/fleet/node/frame_list.h"
#include "host/recorder/dump/dump.h"

/* Adds the thread's stack; *ret is its innermost call.  Lines are those of call sites, and of the
 * place where a waiting thread waits.  The line of a running thread in its innermost function is
 * irrelevant: the next round finds it elsewhere in the same loop.  0 or -ENOMEM. */
int thread_frames_add(struct frame_list *frames, const struct dump *dump,
		      const struct dumped_thread *thread, uint32_t *ret) MUST_CHECK;
