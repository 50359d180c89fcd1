/*
 * Gets the stacks of all threads, by the best available sampler, and names them.
 */
#include "host/recorder/dump/dump_private.h"

#include "host/core/cleanup.h"
#include "host/core/text/path.h"
#include "host/interpreter/interpreter.h"
#include "host/model/samples/languages.h"
#include "host/process/stat.h"
#include "host/process/status.h"
#include "host/recorder/samples/code_list.h"
#include "host/sampling/bpf/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dumped_thread *dump_thread_of(struct dump *self, uint32_t tid)
{
	for (size_t i = 0; i < self->count; i++)
		if ((uint32_t)self->threads[i].facts.tid == tid)
			return &self->threads[i];
	return NULL;
}

/* Resolves addresses while the space exists.  A stack of Python frames alone stays until a whole
 * stack with these frames replaces it. */
int dump_keep(struct dump *self, const struct sample *sample, const struct space *space)
{
	struct dumped_thread *thread = dump_thread_of(self, sample->tid);
	size_t count = (size_t)sample->kernel_count + sample->user_count;
	struct recorded_frame *frames;

	if (!thread ||
	    (thread->has_stack && !(thread->is_partial && sample_has_interpreted(sample))))
		return 0;
	frames = calloc(count + 1, sizeof(*frames));
	if (!frames || code_list_frames(self->codes, space, 0, sample, frames)) {
		free(frames);
		return -ENOMEM;
	}
	free(thread->recorded);
	thread->recorded = frames;
	thread->is_partial = false;
	thread->frame_count = count;
	thread->end = (enum stack_end)sample->end;
	thread->is_guessed = sample->flags & SAMPLE_GUESSED;
	thread->has_stack = true;
	return 0;
}

/* The state at the moment of the stack; the list of threads is older. */
void dump_note_state(struct dump *self, const struct sample *sample)
{
	struct dumped_thread *thread = dump_thread_of(self, sample->tid);

	if (thread && sample->end != STACK_NO_USER)
		thread->facts.state = sample->kind == SAMPLE_BLOCKED ? (char)sample->state : 'R';
}

void dump_note_limit(struct dump *self, const char *what)
{
	size_t length = strlen(self->reasons);

	snprintf(self->reasons + length, sizeof(self->reasons) - length, "%s\n", what);
}

static uint64_t turns_of(pid_t pid, pid_t tid)
{
	struct schedstat times = { 0 };

	return schedstat_read(pid, tid, &times) ? 0 : times.turns;
}

/* Before its stack is read. */
void dump_look_at_wait(struct dump *self, pid_t pid, struct dumped_thread *thread)
{
	thread->turns = turns_of(pid, thread->facts.tid);
	waiting_look(pid, thread->facts.tid, &self->listed, &thread->waiting);
}

/* After its stack was read: if the thread has run since, the wait and the stack are of different
 * moments. */
void dump_settle_wait(pid_t pid, struct dumped_thread *thread)
{
	if (thread->facts.state != 'R' && thread->turns == turns_of(pid, thread->facts.tid))
		return;
	thread->waiting = (struct waiting){ 0 };
	thread->facts.wait_channel[0] = '\0';
}

static void forget_threads(struct dump *self)
{
	for (size_t i = 0; i < self->count; i++) {
		struct dumped_thread *thread = &self->threads[i];

		for (size_t k = 0; thread->frames && k < thread->frame_count; k++)
			free(thread->frames[k].names);
		free(thread->frames);
		free(thread->recorded);
	}
	free(self->threads);
	threads_done(&self->listed);
	self->threads = NULL;
	self->listed = (struct threads){ 0 };
	self->count = 0;
}

int dump_list(struct dump *self, pid_t pid, struct err *err)
{
	int r;

	forget_threads(self);
	r = threads_read(pid, &self->listed, err);
	if (r)
		return r;
	self->threads = calloc(self->listed.count + 1, sizeof(*self->threads));
	if (!self->threads)
		return err_set(err, -ENOMEM, "dump: no memory");
	for (; self->count < self->listed.count; self->count++) {
		struct dumped_thread *thread = &self->threads[self->count];

		thread->facts = self->listed.items[self->count];
		memcpy(thread->name, thread->facts.name, sizeof(thread->facts.name));
		thread->end = STACK_NO_USER;
		dump_look_at_wait(self, pid, thread);
	}
	return 0;
}

struct listing {
	struct dump *dump;
	pid_t pid;
};

static int list_again(void *context, struct err *err)
{
	const struct listing *listing = context;

	return dump_list(listing->dump, listing->pid, err);
}

static int by_snapshot(struct dump *self, pid_t pid, const struct dump_options *options,
		       struct err *err)
{
	struct listing listing = { self, pid };
	const struct snapshot_hook hook = { list_again, &listing };
	struct snapshot *snapshot;
	int r = snapshot_take(&snapshot, pid, options->kernel_frames, &hook, err);

	if (r)
		return r;
	for (size_t i = 0; !r && i < snapshot->count; i++) {
		r = dump_keep(self, snapshot->samples[i], snapshot->space);
		dump_note_state(self, snapshot->samples[i]);
	}
	for (size_t i = 0; i < self->count; i++)
		dump_settle_wait(pid, &self->threads[i]);
	if (snapshot->limits[0])
		dump_note_limit(self, snapshot->limits);
	snapshot_free(snapshot);
	return r ? err_set(err, r, "dump: no memory") : 0;
}

static const struct dump_sampler {
	const char *name;
	int (*take)(struct dump *self, pid_t pid, const struct dump_options *options,
		    struct err *err);
} dump_samplers[] = { { "bpf", by_snapshot }, { "read", dump_by_reading } };

static void note_refusal(struct dump *self, const char *sampler, const struct err *err)
{
	size_t length = strlen(self->reasons);

	snprintf(self->reasons + length, sizeof(self->reasons) - length, "%s: %s%s%s%s%s\n",
		 sampler, err->what, err->why[0] ? ": " : "", err->why, err->fix[0] ? "; " : "",
		 err->fix);
}

/* The last sampler's refusal names the least privilege that is missing. */
static int take_stacks(struct dump *self, pid_t pid, const struct dump_options *options,
		       struct err *err)
{
	int r = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(dump_samplers); i++) {
		if (options->sampler && strcmp(options->sampler, dump_samplers[i].name))
			continue;
		memset(err, 0, sizeof(*err));
		r = dump_samplers[i].take(self, pid, options, err);
		self->sampler = dump_samplers[i].name;
		if (!r || r == -ESRCH)
			return r;
		note_refusal(self, dump_samplers[i].name, err);
	}
	if (r != -ENOENT)
		return r;
	err_set(err, -EINVAL, "unknown sampler '%s' for a dump", options->sampler);
	err_fix(err, "bpf or read");
	return err_exit(err, EXIT_USAGE);
}

static int name_frame(struct dump *self, const struct recorded_frame *recorded, bool wants_lines,
		      struct dumped_frame *ret)
{
	struct recorded_name names[FRAME_NAMES_MAX];
	bool is_named;

	if (code_list_name(self->codes, recorded, wants_lines, names, &ret->name_count, &is_named))
		return -ENOMEM;
	ret->path = language_path(code_list_code(self->codes, recorded->code)->path);
	ret->module = path_base_name(ret->path);
	ret->address = recorded->address;
	ret->names = calloc(ret->name_count, sizeof(*names));
	if (!ret->names)
		return -ENOMEM;
	memcpy(ret->names, names, ret->name_count * sizeof(*names));
	return 0;
}

static unsigned language_of_frame(const struct dump *self, const struct recorded_frame *frame)
{
	return language_of_path(code_list_code(self->codes, frame->code)->path);
}

/* Drops frames of other languages. */
static void keep_language(const struct dump *self, struct dumped_thread *thread, unsigned language)
{
	size_t kept = 0;

	for (size_t i = 0; i < thread->frame_count; i++)
		if (language_of_frame(self, &thread->recorded[i]) == language)
			thread->recorded[kept++] = thread->recorded[i];
	thread->frame_count = kept;
}

static int name_threads(struct dump *self, const struct dump_options *options, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->count; i++) {
		struct dumped_thread *thread = &self->threads[i];

		if (options->language != LANGUAGE_ALL)
			keep_language(self, thread, options->language);
		thread->frames = calloc(thread->frame_count + 1, sizeof(*thread->frames));
		r = thread->frames ? 0 : -ENOMEM;
		for (size_t k = 0; !r && k < thread->frame_count; k++)
			r = name_frame(self, &thread->recorded[k], options->wants_lines,
				       &thread->frames[k]);
	}
	return r ? err_set(err, r, "dump: no memory") : 0;
}

static bool is_python(const struct dump *self)
{
	unsigned python;

	if (!language_find("python", &python))
		return false;
	for (size_t i = 0; i < self->count; i++)
		for (size_t k = 0; k < self->threads[i].frame_count; k++)
			if (language_of_frame(self, &self->threads[i].recorded[k]) == python)
				return true;
	return false;
}

static void ask_python(struct interpreter *python, pid_t pid, struct dumped_thread *thread)
{
	pid_t number = inner_number(pid, thread->facts.tid);
	const struct interpreter_threads *threads = interpreter_threads(python);
	struct interpreter_lock gil = { 0 };
	uint64_t futex = thread->waiting.futex;
	bool is_told = threads->read_lock(python, &gil);

	(void)!threads->read_name(python, number, thread->name, sizeof(thread->name));
	thread->has_gil = is_told && gil.holder == number && thread->facts.state == 'R';
	if (is_told && futex >= gil.start && futex < gil.end)
		snprintf(thread->waiting.object, sizeof(thread->waiting.object), "the GIL");
}

/* Reads thread names and the lock's holder from Python. */
static void look_at_python(struct dump *self, pid_t pid)
{
	struct interpreter *python = NULL;
	struct space *space = NULL;
	struct err ignored = { 0 };

	if (!is_python(self) || space_open(&space, pid, &ignored))
		return;
	if (!interpreter_open(&python, space, pid, READER_OUTSIDE, &ignored))
		for (size_t i = 0; i < self->count; i++)
			ask_python(python, pid, &self->threads[i]);
	interpreter_close(python);
	space_close(space);
}

/* A thread that serves one request may end at any time. */
static void note_end(pid_t pid, struct dumped_thread *thread)
{
	struct process_stat stat;
	struct err ignored = { 0 };

	thread->has_ended =
		!thread->has_stack && stat_read(pid, thread->facts.tid, &stat, &ignored) == -ESRCH;
}

static int dump_fill(struct dump *self, pid_t pid, const struct dump_options *options,
		     struct err *err)
{
	int r = dump_list(self, pid, err);

	if (!r)
		r = take_stacks(self, pid, options, err);
	if (!r) {
		look_at_python(self, pid); /* first: naming takes long, and threads end */
		r = name_threads(self, options, err);
	}
	if (!r) {
		for (size_t i = 0; i < self->count; i++)
			note_end(pid, &self->threads[i]);
		r = deadlock_find(pid, &self->listed, &self->deadlock);
	}
	return r;
}

int dump_take(struct dump **ret, pid_t pid, const struct dump_options *options, struct err *err)
{
	CLEANUP(dump_free) struct dump *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "dump: no memory");
	self->has_borrowed_codes = options->codes;
	self->codes = options->codes ? options->codes : code_list_new();
	r = self->codes ? dump_fill(self, pid, options, err)
			: err_set(err, -ENOMEM, "dump: no memory");
	if (self->has_borrowed_codes)
		code_list_forget_processes(self->codes);
	/* Without stacks, the states of the threads remain. */
	if (r == -EACCES || r == -EPERM)
		self->sampler = "state";
	else if (r)
		return r;
	*ret = TAKE(self);
	return r;
}

void dump_free(struct dump *dump)
{
	if (!dump)
		return;
	forget_threads(dump);
	deadlock_done(&dump->deadlock);
	if (!dump->has_borrowed_codes)
		code_list_free(dump->codes);
	free(dump);
}
