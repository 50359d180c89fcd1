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
#include "host/recorder/base/code_list.h"
#include "host/sampling/bpf/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int list_again(void *context, struct err *err)
{
	return dump_list(context, err);
}

static int by_snapshot(struct dump *self, bool with_kernel, struct err *err)
{
	const struct snapshot_hook hook = { list_again, self };
	struct snapshot *snapshot;
	int r = snapshot_take(&snapshot, self->pid, with_kernel, &hook, err);

	if (r)
		return r;
	for (size_t i = 0; !r && i < snapshot->count; i++) {
		r = dump_keep(self, snapshot->samples[i], snapshot->space);
		dump_note_state(self, snapshot->samples[i]);
	}
	for (size_t i = 0; i < self->count; i++)
		dump_settle_wait(self, &self->threads[i]);
	if (snapshot->limits[0])
		dump_note(self, "%s", snapshot->limits);
	snapshot_free(snapshot);
	return r ? err_set(err, r, "dump: no memory") : 0;
}

static const struct dump_sampler {
	const char *name;
	int (*read)(struct dump *self, bool with_kernel, struct err *err);
} dump_samplers[] = { { "bpf", by_snapshot }, { "read", dump_by_reading } };

/* The last sampler's refusal names the least privilege that is missing. */
static int read_stacks(struct dump *self, const struct dump_options *options, struct err *err)
{
	int r = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(dump_samplers); i++) {
		const struct dump_sampler *sampler = &dump_samplers[i];

		if (options->sampler && strcmp(options->sampler, sampler->name))
			continue;
		memset(err, 0, sizeof(*err));
		r = sampler->read(self, options->kernel_frames, err);
		self->sampler = sampler->name;
		if (!r || r == -ESRCH)
			return r;
		dump_note(self, "%s: %s%s%s%s%s", sampler->name, err->what, err->why[0] ? ": " : "",
			  err->why, err->fix[0] ? "; " : "", err->fix);
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

static void read_python_thread(struct interpreter *python, pid_t pid, struct dumped_thread *thread)
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
static void read_python(struct dump *self)
{
	struct interpreter *python = NULL;
	struct space *space = NULL;
	struct err ignored = { 0 };

	if (!is_python(self) || space_open(&space, self->pid, &ignored))
		return;
	if (!interpreter_open(&python, space, self->pid, READER_OUTSIDE, &ignored))
		for (size_t i = 0; i < self->count; i++)
			read_python_thread(python, self->pid, &self->threads[i]);
	interpreter_close(python);
	space_close(space);
}

static int dump_fill(struct dump *self, const struct dump_options *options, struct err *err)
{
	struct process_stat stat;
	int r = dump_list(self, err);

	if (!r)
		r = read_stacks(self, options, err);
	if (r)
		return r;
	read_python(self); /* first: naming takes long, and threads end */
	r = name_threads(self, options, err);
	if (r)
		return r;
	/* A thread that serves one request may end at any time. */
	for (size_t i = 0; i < self->count; i++)
		self->threads[i].has_ended =
			!self->threads[i].has_stack &&
			stat_read(self->pid, self->threads[i].facts.tid, &stat, NULL) == -ESRCH;
	return deadlock_find(self->pid, &self->listed, &self->deadlock);
}

int dump_make(struct dump **ret, pid_t pid, const struct dump_options *options, struct err *err)
{
	CLEANUP(dump_free) struct dump *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "dump: no memory");
	self->pid = pid;
	self->has_borrowed_codes = options->codes;
	self->codes = options->codes ? options->codes : code_list_new();
	r = self->codes ? dump_fill(self, options, err) : err_set(err, -ENOMEM, "dump: no memory");
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
	dump_forget_threads(dump);
	deadlock_done(&dump->deadlock);
	if (!dump->has_borrowed_codes)
		code_list_free(dump->codes);
	free(dump);
}
