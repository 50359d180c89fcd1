/*
 * Reads Python frames from outside; the caller must know whether the thread slept all the time.
 */
#include "host/sampling/proc/blocked_python.h"

#include "host/process/inner_number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define UNKNOWN_THREADS                                                                        \
	"neither this Python (3.10 or before) nor its C library tells its threads apart: its " \
	"functions are seen by sampler bpf only"
#define UNSEEN_LANGUAGE "%s functions are not seen, native frames only"

struct blocked_python *blocked_python_open(const struct space *space, char *limits, size_t room)
{
	struct blocked_python *self = calloc(1, sizeof(*self));
	const char *title = interpreter_title_in(space);
	struct err err = { 0 };
	int r;

	if (!self)
		return NULL;
	r = python_open(&self->python, space, space->pid, &err);
	if (!r && python_knows_threads(self->python))
		return self;
	if (r != -ENOENT)
		snprintf(limits, room, "%s", r ? err.what : UNKNOWN_THREADS);
	else if (title)
		snprintf(limits, room, UNSEEN_LANGUAGE, title);
	blocked_python_close(self);
	return NULL;
}

void blocked_python_use(struct blocked_python *python, struct followed *process, char *limits,
			size_t room)
{
	const char *title =
		process->was_python_sought ? NULL : interpreter_title_in(process->space);
	struct err err = { 0 };

	limits[0] = '\0';
	python->count = 0;
	if (followed_look_for_python(process, &err))
		snprintf(limits, room, "%s", err.what);
	else if (title && !process->python)
		snprintf(limits, room, UNSEEN_LANGUAGE, title);
	python->python = process->python;
	if (python->python && !python_knows_threads(python->python)) {
		snprintf(limits, room, UNKNOWN_THREADS);
		python->python = NULL;
	}
}

void blocked_python_close(struct blocked_python *python)
{
	if (!python)
		return;
	python_stacks_done(&python->stacks);
	python_close(python->python);
	free(python);
}

void blocked_python_read(struct blocked_python *python, pid_t pid, pid_t tid)
{
	if (python && python->python)
		python->count = python_read_frames(python->python, inner_number(pid, tid),
						   python->frames, ARRAY_SIZE(python->frames));
}

const struct sample *blocked_python_join(struct blocked_python *python, const struct sample *sample)
{
	if (!python || !python->python || !python->count)
		return sample;
	return python_stacks_join(&python->stacks, python->python, sample, python->frames,
				  python->count);
}
