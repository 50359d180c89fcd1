/*
 * Resolves the names of frames, and writes them.
 */
#include "host/recorder/samples/naming.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/notes.h"
#include "host/core/self/interrupt.h"
#include "host/core/text/plural.h"

#include <errno.h>
#include <time.h>

#define NAMES_CHUNK_BYTES (1u << 20)

/* Lines of Python are named in the file already. */
static int put_names(const struct stack_list *stacks, uint32_t frame, bool wants_lines,
		     struct pending *pending, struct naming *naming)
{
	struct recorded_name names[FRAME_NAMES_MAX];
	uint32_t count;
	bool is_named;

	if (code_list_name(stacks->codes, &stacks->frames[frame], wants_lines, names, &count,
			   &is_named))
		return -ENOMEM;
	naming->frames++;
	naming->named += is_named;
	if (code_list_is_python(stacks->codes, &stacks->frames[frame]))
		return 0;
	pending_begin(pending, 0);
	names_pack(&pending->bytes, frame, names, count);
	pending->head.count++;
	naming->without_lines += !wants_lines;
	return 0;
}

static int write_names(struct stack_list *stacks, struct recording *recording, uint64_t lines_ns,
		       struct naming *ret, struct err *err)
{
	CLEANUP(pending_done) struct pending pending = { 0 };
	uint64_t begin_ns = thread_cpu_ns();
	int r = 0;

	*ret = (struct naming){ 0 };
	code_list_follow(stacks->codes);
	for (; !r && stacks->named_count < stacks->frame_count; stacks->named_count++) {
		if (interrupt_is_waiting()) {
			note_add(
				"interrupted: %zu frame%s without names so far; limpet report looks for them",
				stacks->frame_count - stacks->named_count,
				plural(stacks->frame_count - stacks->named_count));
			break;
		}
		if (put_names(stacks, (uint32_t)stacks->named_count,
			      thread_cpu_ns() - begin_ns < lines_ns, &pending, ret))
			return err_set(err, -ENOMEM, "samples: no memory");
		if (pending.bytes.size > NAMES_CHUNK_BYTES)
			r = pending_write(&pending, CHUNK_NAMES, recording, err);
	}
	return r ? r : pending_write(&pending, CHUNK_NAMES, recording, err);
}

int naming_write(struct stack_list *stacks, struct recording *recording, uint64_t lines_ns,
		 struct naming *ret, struct err *err)
{
	int r;

	pthread_mutex_lock(&stacks->lock);
	r = write_names(stacks, recording, lines_ns, ret, err);
	pthread_mutex_unlock(&stacks->lock);
	return r;
}
