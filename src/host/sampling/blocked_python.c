/*
 * Reads Python frames from outside.  Host only; whether the thread slept all the time is for the
 * caller to know.
 */
#include "host/sampling/blocked_python.h"

#include "host/core/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_THREADS                                                                          \
	"this Python does not tell its threads apart (3.10 and before): its functions are seen " \
	"by sampler bpf only"

struct blocked_python *blocked_python_open(const struct space *space, char *limits, size_t room)
{
	struct blocked_python *self = calloc(1, sizeof(*self));
	struct err err = { 0 };
	int r;

	if (!self)
		return NULL;
	r = python_open(&self->python, space, space->pid, &err);
	if (!r && python_knows_threads(self->python))
		return self;
	if (r != -ENOENT)
		snprintf(limits, room, "%s", r ? err.what : UNKNOWN_THREADS);
	blocked_python_close(self);
	return NULL;
}

void blocked_python_use(struct blocked_python *python, struct followed *process, char *limits,
			size_t room)
{
	struct err err = { 0 };

	limits[0] = '\0';
	python->count = 0;
	if (followed_look_for_python(process, &err))
		snprintf(limits, room, "%s", err.what);
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

/* The thread's number in its own namespace: the last of those that it has. */
static pid_t inner_number(pid_t pid, pid_t tid)
{
	char path[64], text[4096];
	const char *line, *last = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (text_read_small(path, text, sizeof(text)) <= 0)
		return tid;
	line = strstr(text, "\nNSpid:");
	for (const char *at = line ? line + 7 : ""; *at && *at != '\n'; at++)
		if (*at == '\t')
			last = at + 1;
	return last ? (pid_t)strtol(last, NULL, 10) : tid;
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
