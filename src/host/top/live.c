/*
 * The live model.  Names are looked for when it is read, a few at a time, so that samples need not
 * wait long.
 */
#include "host/top/live_private.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/model/languages.h"
#include "host/process/process.h"
#include "host/process/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_AT_ONCE 64u
#define NAMING_TURNS  1024u

/* 32 bytes a sample, about 90 a stack and 140 a frame: 80 MiB when all is full, and up to half as
 * much again while the older half leaves. */
const struct live_limits live_limits_usual = {
	.samples = 1u << 19,
	.stacks = 1u << 19,
	.frames = 1u << 17,
	.threads = 1u << 14,
};

static bool set_text(char **text, const char *value)
{
	*text = strdup(value ? value : "");
	return *text;
}

/* Where it may not be known, or is gone, the texts are empty. */
static bool describe_process(struct model_process *process)
{
	CLEANUP(process_done) struct process facts = { 0 };
	struct err ignored;
	bool is_read = !process_read(process->pid, &facts, &ignored);

	return set_text(&process->name, is_read ? facts.status.name : "") &&
	       set_text(&process->executable, is_read ? facts.executable : "") &&
	       set_text(&process->command, is_read ? facts.command : "") &&
	       set_text(&process->folder, "");
}

static void free_process(struct model_process *process)
{
	free(process->name);
	free(process->executable);
	free(process->command);
	free(process->folder);
	free(process);
}

static struct model_process *new_process(pid_t pid)
{
	struct model_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->pid = pid;
	if (describe_process(process))
		return process;
	free_process(process);
	return NULL;
}

static int add_process(struct live *self, struct model_process *process)
{
	struct model *model = self->tables.model;
	bool is_new;
	struct table_entry *entry =
		table_make(&self->processes, (uint64_t)process->pid, 0, &is_new);
	struct model_process **longer = reallocarray(model->processes, model->process_count + 1u,
						     sizeof(struct model_process *));

	if (longer)
		model->processes = longer;
	if (!longer || !entry)
		return -ENOMEM;
	entry->value = process->number = model->process_count;
	model->processes[model->process_count++] = process;
	return 0;
}

static int begin_process(struct live *self, pid_t pid)
{
	struct model_process *process = new_process(pid);
	int r = process ? add_process(self, process) : -ENOMEM;

	if (process && r)
		free_process(process);
	return r;
}

int live_process(struct live *self, pid_t pid)
{
	int r;

	pthread_mutex_lock(&self->lock);
	r = begin_process(self, pid);
	pthread_mutex_unlock(&self->lock);
	return r;
}

int live_new(struct live **ret, pid_t pid, const struct live_limits *limits, struct err *err)
{
	struct live *self = calloc(1, sizeof(*self));

	if (!self)
		return err_set(err, -ENOMEM, "samples: no memory");
	pthread_mutex_init(&self->lock, NULL);
	self->pid = pid;
	self->limits = limits ? *limits : live_limits_usual;
	self->codes = code_list_new();
	if (!self->codes || live_tables_init(&self->tables) || live_process(self, pid) ||
	    make_room(&self->kept, 0, &self->kept_room, sizeof(*self->kept))) {
		live_free(self);
		return err_set(err, -ENOMEM, "samples: no memory");
	}
	*ret = self;
	return 0;
}

void live_free(struct live *live)
{
	if (!live)
		return;
	live_tables_done(&live->tables);
	table_done(&live->processes);
	code_list_free(live->codes);
	free(live->kept);
	pthread_mutex_destroy(&live->lock);
	free(live);
}

void live_show(struct live *live, unsigned language, bool full_paths)
{
	live->language = language;
	live->full_paths = full_paths;
}

static bool is_shown(const struct live *self, const struct recorded_frame *frame)
{
	return self->language == LANGUAGE_ALL ||
	       language_of_path(code_list_code(self->codes, frame->code)->path) == self->language;
}

static int take_stack(struct live *self, uint32_t process, const struct sample *sample,
		      const struct space *space, uint32_t *ret)
{
	size_t count = (size_t)sample->kernel_count + sample->user_count;
	uint32_t frame;
	int r;

	*ret = STACK_NONE;
	if (count > STACK_DEPTH_MAX)
		return 0;
	code_list_at(self->codes, sample->time_ns);
	r = code_list_frames(self->codes, space, process, sample, self->frames);
	if (!r)
		r = live_codes(self);
	while (!r && count-- > 0) {
		if (!is_shown(self, &self->frames[count]))
			continue;
		r = live_frame(self, &self->frames[count], &frame);
		if (!r)
			r = live_stack(self, *ret, frame, ret);
	}
	return r;
}

/* One whose birth nobody has told is begun with its first sample. */
static int find_process(struct live *self, pid_t pid, uint32_t *ret)
{
	const struct table_entry *entry = table_find(&self->processes, (uint64_t)pid, 0);

	if (!entry && begin_process(self, pid))
		return -ENOMEM;
	entry = entry ? entry : table_find(&self->processes, (uint64_t)pid, 0);
	*ret = (uint32_t)entry->value;
	return 0;
}

static int find_thread(struct live *self, uint32_t process, pid_t pid, pid_t tid, uint32_t *ret)
{
	const struct table_entry *entry =
		table_find(&self->tables.thread_numbers, process, (uint64_t)tid);
	char name[32] = "";

	if (entry) {
		*ret = (uint32_t)entry->value;
		return 0;
	}
	thread_read_name(pid, tid, name, sizeof(name));
	return live_thread(self, process, tid, name, ret);
}

static int live_add(struct live *self, const struct sample *sample, const struct space *space)
{
	uint32_t process, thread, stack;

	if (live_forget(self) ||
	    make_room(&self->kept, self->kept_count, &self->kept_room, sizeof(*self->kept)) ||
	    find_process(self, (pid_t)sample->pid, &process) ||
	    find_thread(self, process, (pid_t)sample->pid, (pid_t)sample->tid, &thread) ||
	    take_stack(self, process, sample, space, &stack))
		return -ENOMEM;
	if (self->language > LANGUAGE_NATIVE && stack == STACK_NONE)
		return 0;
	self->kept[self->kept_count++] = recorded_sample_of(sample, thread, stack);
	self->counts.seen++;
	self->counts.ends[sample->end]++;
	return 0;
}

int live_take(struct live *self, const struct sample *sample, const struct space *space)
{
	int r;

	if (sample->kind >= SAMPLE_KINDS || sample->end >= STACK_ENDS)
		return 0;
	pthread_mutex_lock(&self->lock);
	r = live_add(self, sample, space);
	pthread_mutex_unlock(&self->lock);
	return r;
}

bool live_thread_number(const struct live *live, pid_t tid, uint32_t *ret)
{
	const struct table_entry *owner = table_find(&live->tables.thread_owners, (uint64_t)tid, 0);
	const struct table_entry *entry =
		owner ? table_find(&live->tables.thread_numbers, owner->value, (uint64_t)tid)
		      : NULL;

	if (entry)
		*ret = (uint32_t)entry->value;
	return entry;
}

bool live_thread_find(struct live *self, pid_t tid, uint32_t *ret)
{
	bool is_there;

	pthread_mutex_lock(&self->lock);
	is_there = live_thread_number(self, tid, ret);
	pthread_mutex_unlock(&self->lock);
	return is_there;
}

bool live_thread_process(struct live *self, pid_t tid, pid_t *ret)
{
	uint32_t number;
	bool is_there;

	pthread_mutex_lock(&self->lock);
	is_there = live_thread_number(self, tid, &number);
	if (is_there)
		*ret = self->tables.model->threads[number]->process->pid;
	pthread_mutex_unlock(&self->lock);
	return is_there;
}

void live_rename(struct live *self, pid_t tid, const char *name)
{
	struct model_thread *thread;
	uint32_t number;
	char *copy;

	pthread_mutex_lock(&self->lock);
	if (live_thread_number(self, tid, &number)) {
		thread = self->tables.model->threads[number];
		copy = strcmp(thread->name, name) ? strdup(name) : NULL;
		if (copy) {
			free(thread->name);
			thread->name = copy;
		}
	}
	pthread_mutex_unlock(&self->lock);
}

struct live_counts live_counts(struct live *self)
{
	struct live_counts counts;

	pthread_mutex_lock(&self->lock);
	counts = self->counts;
	pthread_mutex_unlock(&self->lock);
	return counts;
}

static int name_frame(struct live *self, struct sample_frame *frame)
{
	struct recorded_name names[FRAME_NAMES_MAX];
	uint32_t count;
	bool is_named;

	if (code_list_name(self->codes,
			   &(struct recorded_frame){ frame->code, frame->is_return, frame->address,
						     frame->version },
			   /* wants_lines */ false, names, &count, &is_named))
		return -ENOMEM;
	frame->is_unnamed = !is_named;
	if (frame->location_count && !is_named)
		return 0;
	return samples_set_names(self->tables.model->samples, frame, names, count);
}

/* How many are left without an answer; -ENOMEM. */
static long name_some(struct live *self, size_t limit)
{
	struct samples *samples = self->tables.model->samples;
	size_t *at = &self->tables.named_count;
	int r = 0;

	for (; !r && limit && *at < samples->frame_count; limit--)
		r = name_frame(self, &samples->frames[(*at)++]);
	return r ? r : (long)(samples->frame_count - *at);
}

/* The location of the function itself, as the frame is named already; those that were inlined into
 * it stay part of it. */
static struct sample_location *outermost_location(struct samples *samples,
						  const struct sample_frame *frame)
{
	return &samples->locations[frame->first_location + frame->location_count - 1];
}

static bool is_of(const struct samples *samples, const struct sample_frame *frame,
		  const char *function, const char *module)
{
	const struct sample_function *is;

	if (frame->has_lines || !frame->location_count)
		return false;
	is = &samples->functions[samples->locations[frame->first_location + frame->location_count -
						    1]
					 .function];
	return !strcmp(is->name, function) && !strcmp(samples->codes[is->code].name, module);
}

static int find_frame_lines(struct live *self, struct sample_frame *frame)
{
	struct samples *samples = self->tables.model->samples;
	struct recorded_name names[FRAME_NAMES_MAX];
	struct sample_location *location = outermost_location(samples, frame);
	uint32_t count;
	bool is_named;

	if (code_list_name(self->codes,
			   &(struct recorded_frame){ frame->code, frame->is_return, frame->address,
						     frame->version },
			   /* wants_lines */ true, names, &count, &is_named))
		return -ENOMEM;
	frame->has_lines = true;
	if (!count || !names[count - 1].line)
		return 0;
	location->line = names[count - 1].line;
	location->file = pool_keep(&samples->texts, names[count - 1].file);
	return location->file ? 0 : -ENOMEM;
}

/* In turns, as for names. */
int live_find_lines(struct live *self, const char *function, const char *module)
{
	int r = 0;

	for (size_t i = 0, left = 1; !r && left;) {
		struct samples *samples;

		pthread_mutex_lock(&self->lock);
		samples = self->tables.model->samples;
		left = self->tables.named_count - MIN(i, self->tables.named_count);
		for (size_t some = 0; !r && left && some < NAMES_AT_ONCE; left--, i++)
			if (is_of(samples, &samples->frames[i], function, module)) {
				r = find_frame_lines(self, &samples->frames[i]);
				some++;
			}
		pthread_mutex_unlock(&self->lock);
	}
	return r;
}

/* A runtime may tell later what it has made. */
static int name_made_code(struct live *self)
{
	struct samples *samples = self->tables.model->samples;
	int r = 0;

	code_list_follow(self->codes);
	for (size_t i = 0; !r && i < self->tables.named_count; i++)
		if (samples->frames[i].is_unnamed &&
		    samples->codes[samples->frames[i].code].kind == CODE_JIT)
			r = name_frame(self, &samples->frames[i]);
	return r;
}

/* New frames may come as fast as old ones get their names: not for ever. */
static int name_in_turns(struct live *self)
{
	long left = 1;

	for (unsigned turn = 0; left > 0 && turn < NAMING_TURNS; turn++) {
		pthread_mutex_lock(&self->lock);
		left = name_some(self, NAMES_AT_ONCE);
		pthread_mutex_unlock(&self->lock);
	}
	return left < 0 ? -ENOMEM : 0;
}

/* They lie in the order of their times, but for what came by different ways in one moment. */
static void samples_choose(struct live *self, uint64_t from_ns, uint64_t until_ns)
{
	size_t first, end = self->kept_count;

	while (end && self->kept[end - 1].time_ns > until_ns)
		end--;
	for (first = end; first && self->kept[first - 1].time_ns >= from_ns;)
		first--;
	self->tables.model->samples->kept = self->kept + first;
	self->tables.model->samples->kept_count = end - first;
}

int live_read(struct live *self, uint64_t from_ns, uint64_t until_ns, live_reader *read,
	      void *context)
{
	int r = name_in_turns(self);

	if (r)
		return r;
	pthread_mutex_lock(&self->lock);
	if (name_made_code(self) || name_some(self, SIZE_MAX) < 0)
		r = -ENOMEM;
	samples_choose(self, from_ns, until_ns);
	if (!r)
		r = read(self->tables.model, context);
	pthread_mutex_unlock(&self->lock);
	return r;
}
