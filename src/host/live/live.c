/*
 * Adds samples to the live store.
 */
#include "host/live/live_private.h"

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/model/read/read.h"
#include "host/model/samples/languages.h"
#include "host/process/inspect/process.h"
#include "host/process/threads.h"
#include "host/recorder/samples/sampling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RENAME_NS 1000000000u

/* 32 bytes a sample, about 110 a stack and 190 a frame: 100 MiB when full, and up to half as much
 * again while old ones are dropped. */
const struct live_limits live_limits_usual = {
	.samples = 1u << 19,
	.stacks = 1u << 19,
	.frames = 1u << 17,
	.threads = 1u << 14,
};

void live_lock(struct live *live)
{
	atomic_fetch_add(&live->asking, 1);
	pthread_mutex_lock(&live->lock);
	atomic_fetch_sub(&live->asking, 1);
}

void live_lock_later(struct live *live)
{
	pthread_mutex_lock(&live->lock);
	if (atomic_load(&live->asking))
		pthread_cond_wait(&live->is_unasked, &live->lock);
}

void live_unlock(struct live *live)
{
	bool is_unasked = !atomic_load(&live->asking);

	pthread_mutex_unlock(&live->lock);
	if (is_unasked)
		pthread_cond_signal(&live->is_unasked);
}

struct live_kept *live_kept_new(size_t room)
{
	struct live_kept *kept = calloc(1, sizeof(*kept) + (room + 1) * sizeof(kept->items[0]));

	if (kept)
		atomic_init(&kept->refs, 1);
	return kept;
}

void live_kept_unref(struct live_kept *kept)
{
	if (kept && atomic_fetch_sub(&kept->refs, 1) == 1)
		free(kept);
}

/* A process that may not be read, or has ended, keeps the sampler's name for it, and has no other
 * text. */
static int describe_process(const struct live *self, struct model_process *process,
			    const struct sampled_process *sampled)
{
	CLEANUP(process_done) struct process facts = { 0 };
	struct err ignored;
	bool is_read = !sampled->is_unread && !self->names_on_request &&
		       !process_read(process->pid, &facts, &ignored);
	const char *name = is_read ? facts.status.name : sampled->name;

	return text_set(&process->name, name ? name : "") ||
			       text_set(&process->executable, is_read ? facts.executable : "") ||
			       text_set(&process->command, is_read ? facts.command : "") ||
			       text_set(&process->folder, "")
		       ? -ENOMEM
		       : 0;
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

static int begin_process(struct live *self, const struct sampled_process *sampled)
{
	struct model_process *process = calloc(1, sizeof(*process));

	if (!process)
		return -ENOMEM;
	process->pid = sampled->pid;
	if (!describe_process(self, process, sampled) && !add_process(self, process))
		return 0;
	model_process_free(process);
	return -ENOMEM;
}

int live_process(struct live *self, const struct sampled_process *process)
{
	int r;

	live_lock(self);
	r = begin_process(self, process);
	live_unlock(self);
	return r;
}

int live_new(struct live **ret, pid_t pid, const struct live_limits *limits, struct err *err)
{
	const struct sampled_process first = { .pid = pid };
	struct live *self = calloc(1, sizeof(*self));

	if (!self)
		return err_set(err, -ENOMEM, "samples: no memory");
	pthread_mutex_init(&self->reading, NULL);
	pthread_mutex_init(&self->lock, NULL);
	pthread_cond_init(&self->is_unasked, NULL);
	pthread_cond_init(&self->is_added, NULL);
	self->pid = pid;
	self->limits = limits ? *limits : live_limits_usual;
	self->codes = code_list_new();
	self->kept = live_kept_new(self->limits.samples);
	if (!self->codes || !self->kept || live_tables_init(&self->tables) ||
	    (pid && live_process(self, &first))) {
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
	live_view_unref(live->view);
	live_tables_done(&live->tables);
	table_done(&live->processes);
	code_list_free(live->codes);
	live_kept_unref(live->kept);
	pthread_cond_destroy(&live->is_added);
	pthread_cond_destroy(&live->is_unasked);
	pthread_mutex_destroy(&live->lock);
	pthread_mutex_destroy(&live->reading);
	free(live);
}

void live_show(struct live *live, unsigned language, bool full_paths)
{
	live->language = language;
	live->full_paths = full_paths;
}

void live_name_on_request(struct live *live)
{
	live->names_on_request = true;
}

static bool is_shown(const struct live *self, const struct recorded_frame *frame)
{
	return self->language == LANGUAGE_ALL ||
	       language_of_path(code_list_code(self->codes, frame->code)->path) == self->language;
}

static int add_stack(struct live *self, uint32_t process, const struct sample *sample,
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
	while (!r && count-- > 0) {
		if (!is_shown(self, &self->frames[count]))
			continue;
		r = live_frame(self, &self->frames[count], &frame);
		if (!r)
			r = live_stack(self, *ret, frame, ret);
	}
	return r;
}

/* A process without a fork event starts with its first sample. */
static int find_process(struct live *self, pid_t pid, uint32_t *ret)
{
	const struct table_entry *entry = table_find(&self->processes, (uint64_t)pid, 0);
	const struct sampled_process untold = { .pid = pid };

	if (!entry && begin_process(self, &untold))
		return -ENOMEM;
	entry = entry ? entry : table_find(&self->processes, (uint64_t)pid, 0);
	*ret = (uint32_t)entry->value;
	return 0;
}

/* The entry's `more` is the time at which its name was read. */
static int rename_thread(struct live *self, struct table_entry *entry, pid_t pid, uint64_t time_ns)
{
	struct model_thread *thread = self->tables.model->threads[entry->value];
	char name[32] = "";

	if (!self->names_on_request || time_ns < entry->more + RENAME_NS)
		return 0;
	entry->more = time_ns;
	thread_read_name(pid, thread->tid, name, sizeof(name));
	if (!name[0] || !strcmp(name, thread->name))
		return 0;
	self->renames++;
	return text_set(&thread->name, name);
}

static int find_thread(struct live *self, uint32_t process, const struct sample *sample,
		       uint32_t *ret)
{
	pid_t pid = (pid_t)sample->pid, tid = (pid_t)sample->tid;
	struct table_entry *entry =
		table_find(&self->tables.thread_numbers, process, (uint64_t)tid);
	char name[32] = "";

	if (entry) {
		*ret = (uint32_t)entry->value;
		return rename_thread(self, entry, pid, sample->time_ns);
	}
	thread_read_name(pid, tid, name, sizeof(name));
	if (!name[0] && pid == tid)
		snprintf(name, sizeof(name), "%s", self->tables.model->processes[process]->name);
	return live_thread(self, process, tid, name, ret);
}

/* Readers do it else, before they resolve names. */
static void follow_code(struct live *self, uint64_t time_ns)
{
	if (!self->names_on_request || time_ns < self->followed_ns + RENAME_NS)
		return;
	self->followed_ns = time_ns;
	code_list_follow(self->codes);
}

static int live_add(struct live *self, const struct sample *sample, const struct space *space)
{
	uint32_t process, thread, stack;

	if (live_forget(self) || find_process(self, (pid_t)sample->pid, &process) ||
	    find_thread(self, process, sample, &thread) ||
	    add_stack(self, process, sample, space, &stack))
		return -ENOMEM;
	if (self->language > LANGUAGE_NATIVE && stack == STACK_NONE)
		return 0;
	self->kept->items[self->kept_count++] = recorded_sample_of(sample, thread, stack);
	live_note_time(self, sample->time_ns);
	self->counts.seen++;
	self->counts.ends[sample->end]++;
	follow_code(self, sample->time_ns);
	pthread_cond_broadcast(&self->is_added);
	return 0;
}

int live_put(struct live *self, const struct sample *sample, const struct space *space)
{
	int r;

	if (sample->kind >= SAMPLE_KINDS || sample->end >= STACK_ENDS)
		return 0;
	live_lock(self);
	r = live_add(self, sample, space);
	live_unlock(self);
	return r;
}

static int observe_sample(void *context, const struct sample *sample, struct space *space)
{
	return live_put(context, sample, space);
}

static int observe_process(void *context, const struct sampled_process *process)
{
	return live_process(context, process);
}

void live_observe(struct live *live, struct sampling_options *sampling)
{
	sampling->observe = observe_sample;
	sampling->observe_process = live->names_on_request ? NULL : observe_process;
	sampling->context = live;
}

/* Its number in the tables. */
static bool thread_find(const struct live *live, pid_t tid, uint32_t *ret)
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

	live_lock_later(self);
	is_there = thread_find(self, tid, ret);
	live_unlock(self);
	return is_there;
}

bool live_thread_process(struct live *self, pid_t tid, pid_t *ret)
{
	uint32_t number;
	bool is_there;

	live_lock_later(self);
	is_there = thread_find(self, tid, &number);
	if (is_there)
		*ret = self->tables.model->threads[number]->process->pid;
	live_unlock(self);
	return is_there;
}

size_t live_pids(struct live *self, pid_t **ret)
{
	size_t count = 0;

	live_lock_later(self);
	*ret = calloc(self->tables.model->process_count + 1u, sizeof(**ret));
	for (uint32_t i = 0; *ret && i < self->tables.model->process_count; i++) {
		pid_t pid = self->tables.model->processes[i]->pid;
		const struct table_entry *entry = table_find(&self->processes, (uint64_t)pid, 0);

		/* Of several programs that it executed, the last one. */
		if (entry && entry->value == i)
			(*ret)[count++] = pid;
	}
	live_unlock(self);
	return count;
}

void live_rename(struct live *self, pid_t tid, const char *name)
{
	struct model_thread *thread;
	uint32_t number;

	live_lock_later(self);
	if (thread_find(self, tid, &number)) {
		thread = self->tables.model->threads[number];
		if (strcmp(thread->name, name) && !text_set(&thread->name, name))
			self->renames++;
	}
	live_unlock(self);
}

struct live_counts live_counts(struct live *self)
{
	struct live_counts counts;

	live_lock_later(self);
	counts = self->counts;
	live_unlock(self);
	return counts;
}

void live_sizes(struct live *self, struct live_sizes *ret)
{
	live_lock_later(self);
	*ret = (struct live_sizes){ .processes = self->tables.model->process_count,
				    .codes = code_list_count(self->codes),
				    .texts = code_list_texts(self->codes) };
	live_unlock(self);
}

bool live_wait(struct live *self, uint64_t seen)
{
	bool is_there;

	live_lock_later(self);
	while (self->counts.seen <= seen && !self->is_closed)
		pthread_cond_wait(&self->is_added, &self->lock);
	is_there = self->counts.seen > seen;
	live_unlock(self);
	return is_there;
}

static void set_closed(struct live *self, bool is_closed)
{
	live_lock_later(self);
	self->is_closed = is_closed;
	pthread_cond_broadcast(&self->is_added);
	live_unlock(self);
}

void live_open(struct live *self)
{
	set_closed(self, false);
}

void live_close(struct live *self)
{
	set_closed(self, true);
}

int live_name(struct live *self, const struct recorded_frame *frame,
	      struct recorded_name ret[FRAME_NAMES_MAX], uint32_t *ret_count, bool *ret_is_named,
	      const char **ret_path)
{
	int r;

	live_lock_later(self);
	r = code_list_name(self->codes, frame, /* wants_lines */ false, ret, ret_count,
			   ret_is_named);
	*ret_path = code_list_code(self->codes, frame->code)->path;
	live_unlock(self);
	return r;
}
