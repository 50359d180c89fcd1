/*
 * Takes the stacks of all threads, by the best way that can be had, and names them.
 */
#include "host/recorder/dump.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/model/languages.h"
#include "host/process/inner_number.h"
#include "host/process/rights.h"
#include "host/process/schedstat.h"
#include "host/recorder/code_list.h"
#include "host/sampling/blocked_stack.h"
#include "host/sampling/java_code.h"
#include "host/sampling/sampler.h"
#include "host/sampling/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long threads that run are waited for: each of them needs a moment on a processor. */
#define RUNNING_NS      1000000000u
#define RUNNING_HZ      499u
#define RUNNING_STEP_NS 5000000

static struct dumped_thread *thread_of(struct dump *self, uint32_t tid)
{
	for (size_t i = 0; i < self->count; i++)
		if ((uint32_t)self->threads[i].facts.tid == tid)
			return &self->threads[i];
	return NULL;
}

/* Addresses become frames while the space is there. */
static int keep(struct dump *self, const struct sample *sample, const struct space *space)
{
	struct dumped_thread *thread = thread_of(self, sample->tid);
	size_t count = (size_t)sample->kernel_count + sample->user_count;
	struct recorded_frame *frames;

	if (!thread || thread->has_stack)
		return 0;
	frames = calloc(count + 1, sizeof(*frames));
	if (!frames || code_list_frames(self->codes, space, 0, sample, frames)) {
		free(frames);
		return -ENOMEM;
	}
	thread->recorded = frames;
	thread->frame_count = count;
	thread->end = (enum stack_end)sample->end;
	thread->is_guessed = sample->flags & SAMPLE_GUESSED;
	thread->has_stack = true;
	return 0;
}

/* Of the same moment as the stack, which the list of threads is not. */
static void note_state(struct dump *self, const struct sample *sample)
{
	struct dumped_thread *thread = thread_of(self, sample->tid);

	if (thread && sample->end != STACK_NO_USER)
		thread->facts.state = sample->kind == SAMPLE_BLOCKED ? (char)sample->state : 'R';
}

static void note_limit(struct dump *self, const char *what)
{
	size_t length = strlen(self->reasons);

	snprintf(self->reasons + length, sizeof(self->reasons) - length, "%s\n", what);
}

static uint64_t turns_of(pid_t pid, pid_t tid)
{
	struct schedstat times = { 0 };

	return schedstat_read(pid, tid, &times) ? 0 : times.turns;
}

/* Before its stack is taken. */
static void look_at_wait(struct dump *self, pid_t pid, struct dumped_thread *thread)
{
	thread->turns = turns_of(pid, thread->facts.tid);
	waiting_look(pid, thread->facts.tid, &self->listed, &thread->waiting);
}

/* After that: a thread that has run since was elsewhere when its stack was taken, or is now. */
static void settle_wait(pid_t pid, struct dumped_thread *thread)
{
	if (thread->facts.state != 'R' && thread->turns == turns_of(pid, thread->facts.tid))
		return;
	thread->waiting = (struct waiting){ 0 };
	thread->facts.wait_channel[0] = '\0';
}

static int by_snapshot(struct dump *self, pid_t pid, const struct dump_options *options,
		       struct err *err)
{
	struct snapshot *snapshot;
	int r;

	for (size_t i = 0; i < self->count; i++)
		look_at_wait(self, pid, &self->threads[i]);
	r = snapshot_take(&snapshot, pid, options->kernel_frames, err);

	if (r)
		return r;
	for (size_t i = 0; !r && i < snapshot->count; i++) {
		r = keep(self, snapshot->samples[i], snapshot->space);
		note_state(self, snapshot->samples[i]);
	}
	if (snapshot->limits[0])
		note_limit(self, snapshot->limits);
	snapshot_free(snapshot);
	return r ? err_set(err, r, "dump: no memory") : 0;
}

static int read_waiting(struct dump *self, const struct space *space, struct err *err)
{
	struct sample *sample = calloc(1, sizeof(*sample) + SAMPLE_FRAMES_MAX * sizeof(__u64));
	char why[256] = "";
	struct blocked_python *python = blocked_python_open(space, why, sizeof(why));
	int r = sample ? 0 : -ENOMEM;

	if (why[0])
		note_limit(self, why);
	for (size_t i = 0; !r && i < self->count; i++) {
		pid_t tid = self->threads[i].facts.tid;
		struct blocked_stack stack;

		look_at_wait(self, space->pid, &self->threads[i]);
		r = blocked_stack_read(&stack, space, tid, sample->frames, SAMPLE_FRAMES_MAX,
				       python);
		if (r == -EACCES || r == -EPERM)
			break;
		if (r) {
			r = 0;
			continue;
		}
		sample->tid = (uint32_t)tid;
		sample->user_count = (uint16_t)stack.count;
		sample->end = (uint8_t)stack.end;
		sample->flags = stack.is_guessed ? SAMPLE_GUESSED : 0;
		r = keep(self, blocked_python_join(python, sample), space);
		if (self->threads[i].facts.state == 'R')
			self->threads[i].facts.state = 'S';
	}
	blocked_python_close(python);
	free(sample);
	if (!r)
		return 0;
	err_set(err, r, "read the stacks of waiting threads: %s", strerror(-r));
	err_fix(err, "%s", rights_fix());
	return r == -ENOMEM ? r : err_exit(err, EXIT_NOT_PERMITTED);
}

static void take_running(void *context, const struct sample *sample, struct space *space)
{
	const struct dumped_thread *thread = thread_of(context, sample->tid);

	if (!thread || thread->has_stack)
		return;
	(void)!keep(context, sample, space);
	note_state(context, sample);
}

static void ignore_process(void *context, pid_t pid, pid_t parent)
{
	(void)context;
	(void)pid;
	(void)parent;
}

static bool is_one_missing(const struct dump *self)
{
	for (size_t i = 0; i < self->count; i++)
		if (!self->threads[i].has_stack && self->threads[i].facts.state == 'R')
			return true;
	return false;
}

/* Threads that run have no stack that could be read: they are sampled until each was met.  Where
 * that is not allowed, they are shown without. */
static void sample_running(struct dump *self, pid_t pid)
{
	const struct sampler_options options = { .pid = pid, .hz = RUNNING_HZ, .on_cpu = true };
	const struct sampler_listener listener = { take_running, ignore_process, self };
	const struct timespec step = { 0, RUNNING_STEP_NS };
	uint64_t begin_ns = now_ns();
	struct sampler *sampler;
	struct err ignored = { 0 };

	if (!is_one_missing(self) || sampler_copy.open(&sampler, &options, &ignored))
		return;
	while (is_one_missing(self) && now_ns() - begin_ns < RUNNING_NS) {
		nanosleep(&step, NULL);
		if (sampler_copy.drain(sampler, &listener, &ignored))
			break;
	}
	sampler_close(sampler);
}

static void look_for_java(struct dump *self, struct space *space)
{
	struct java_code java = { 0 };

	java_code_look(&java, space);
	if (java.why[0])
		note_limit(self, java.why);
	java_code_done(&java);
}

static int by_reading(struct dump *self, pid_t pid, const struct dump_options *options,
		      struct err *err)
{
	struct space *space;
	int r = space_open(&space, pid, err);

	(void)options;
	if (r == -EACCES || r == -EPERM) {
		err_fix(err, "%s", rights_fix());
		err_exit(err, EXIT_NOT_PERMITTED);
	}
	if (r)
		return r;
	look_for_java(self, space);
	r = read_waiting(self, space, err);
	space_close(space);
	if (!r)
		sample_running(self, pid);
	return r;
}

static const struct dump_way {
	const char *name;
	int (*take)(struct dump *self, pid_t pid, const struct dump_options *options,
		    struct err *err);
} ways[] = { { "bpf", by_snapshot }, { "read", by_reading } };

static void note_refusal(struct dump *self, const char *way, const struct err *err)
{
	size_t length = strlen(self->reasons);

	snprintf(self->reasons + length, sizeof(self->reasons) - length, "%s: %s%s%s%s%s\n", way,
		 err->what, err->why[0] ? ": " : "", err->why, err->fix[0] ? "; " : "", err->fix);
}

/* The last way's refusal names the least right that is missing. */
static int take_stacks(struct dump *self, pid_t pid, const struct dump_options *options,
		       struct err *err)
{
	int r = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (options->way && strcmp(options->way, ways[i].name))
			continue;
		memset(err, 0, sizeof(*err));
		r = ways[i].take(self, pid, options, err);
		self->way = ways[i].name;
		if (!r || r == -ESRCH)
			return r;
		note_refusal(self, ways[i].name, err);
	}
	if (r != -ENOENT)
		return r;
	err_set(err, -EINVAL, "there is no way '%s'", options->way);
	err_fix(err, "bpf or read");
	return err_exit(err, EXIT_USAGE);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static int name_frame(struct dump *self, const struct recorded_frame *recorded, bool wants_lines,
		      struct dumped_frame *ret)
{
	struct recorded_name names[FRAME_NAMES_MAX];
	bool is_named;

	if (code_list_name(self->codes, recorded, wants_lines, names, &ret->name_count, &is_named))
		return -ENOMEM;
	ret->path = language_path(code_list_code(self->codes, recorded->code)->path);
	ret->module = base_name(ret->path);
	ret->address = recorded->address;
	ret->names = calloc(ret->name_count, sizeof(*names));
	if (!ret->names)
		return -ENOMEM;
	memcpy(ret->names, names, ret->name_count * sizeof(*names));
	return 0;
}

static int name_threads(struct dump *self, bool wants_lines, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->count; i++) {
		struct dumped_thread *thread = &self->threads[i];

		thread->frames = calloc(thread->frame_count + 1, sizeof(*thread->frames));
		r = thread->frames ? 0 : -ENOMEM;
		for (size_t k = 0; !r && k < thread->frame_count; k++)
			r = name_frame(self, &thread->recorded[k], wants_lines, &thread->frames[k]);
	}
	return r ? err_set(err, r, "dump: no memory") : 0;
}

static int list_threads(struct dump *self, pid_t pid, struct err *err)
{
	int r = threads_read(pid, &self->listed, err);

	if (r)
		return r;
	self->threads = calloc(self->listed.count + 1, sizeof(*self->threads));
	self->codes = code_list_new();
	if (!self->threads || !self->codes)
		return err_set(err, -ENOMEM, "dump: no memory");
	for (; self->count < self->listed.count; self->count++) {
		struct dumped_thread *thread = &self->threads[self->count];

		thread->facts = self->listed.items[self->count];
		memcpy(thread->name, thread->facts.name, sizeof(thread->facts.name));
		thread->end = STACK_NO_USER;
		look_at_wait(self, pid, thread);
	}
	return 0;
}

static bool is_python(const struct dump *self)
{
	unsigned python, i = 0;

	if (!language_find("python", &python))
		return false;
	while (i < code_list_count(self->codes) &&
	       language_of_path(code_list_code(self->codes, i)->path) != python)
		i++;
	return i < code_list_count(self->codes);
}

static void ask_python(struct python *python, pid_t pid, struct dumped_thread *thread)
{
	pid_t number = inner_number(pid, thread->facts.tid);
	struct python_gil gil = { 0 };
	uint64_t futex = waiting_futex(pid, thread->facts.tid);
	bool is_told = python_gil_read(python, &gil);

	(void)!python_thread_name(python, number, thread->name, sizeof(thread->name));
	thread->has_gil = is_told && gil.holder == number && thread->facts.state == 'R';
	if (is_told && thread->waiting.call[0] && futex >= gil.start && futex < gil.end)
		snprintf(thread->waiting.object, sizeof(thread->waiting.object), "the GIL");
}

/* What Python tells of its threads. */
static void look_at_python(struct dump *self, pid_t pid)
{
	struct python *python = NULL;
	struct space *space = NULL;
	struct err ignored = { 0 };

	if (!is_python(self) || space_open(&space, pid, &ignored))
		return;
	if (!python_open(&python, space, pid, &ignored))
		for (size_t i = 0; i < self->count; i++)
			ask_python(python, pid, &self->threads[i]);
	python_close(python);
	space_close(space);
}

int dump_take(struct dump **ret, pid_t pid, const struct dump_options *options, struct err *err)
{
	CLEANUP(dump_free) struct dump *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "dump: no memory");
	r = list_threads(self, pid, err);
	if (!r)
		r = take_stacks(self, pid, options, err);
	if (!r)
		r = name_threads(self, options->wants_lines, err);
	if (!r) {
		look_at_python(self, pid);
		for (size_t i = 0; i < self->count; i++)
			settle_wait(pid, &self->threads[i]);
		r = deadlock_find(pid, &self->listed, &self->deadlock);
	}
	/* States are something, too. */
	if (r == -EACCES || r == -EPERM)
		self->way = "state";
	else if (r)
		return r;
	*ret = TAKE(self);
	return r;
}

void dump_free(struct dump *dump)
{
	if (!dump)
		return;
	for (size_t i = 0; i < dump->count; i++) {
		struct dumped_thread *thread = &dump->threads[i];

		for (size_t k = 0; thread->frames && k < thread->frame_count; k++)
			free(thread->frames[k].names);
		free(thread->frames);
		free(thread->recorded);
	}
	free(dump->threads);
	threads_done(&dump->listed);
	deadlock_done(&dump->deadlock);
	code_list_free(dump->codes);
	free(dump);
}
