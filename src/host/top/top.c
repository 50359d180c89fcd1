/*
 * Puts the parts together: process, live model, source, threads.
 */
#include "host/top/top.h"

#include "host/core/cleanup.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/live/freeze.h"
#include "host/live/live.h"
#include "host/live/thread_watch.h"
#include "host/model/statistics.h"
#include "host/process/forks/descendants.h"
#include "host/process/stat.h"
#include "host/recorder/counter_watch.h"
#include "host/recording/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct top {
	struct top_options options;
	pid_t pid;
	int pidfd;
	char name[32]; /* of the program that it runs now */
	struct live *live;
	struct source *source;
	struct thread_watch watch;
	size_t process_count; /* at the last poll */
	struct counter_watch *counters;
};

/* The process, and where they are wanted its descendants; without one all that had a sample.  The
 * caller frees them. */
static size_t find_processes(const struct top *self, pid_t **ret)
{
	struct err ignored = { 0 };
	pid_t *family = NULL;
	size_t count = 0;

	if (!self->pid)
		return live_pids(self->live, ret);
	if (self->options.sampling.sampler.children &&
	    descendants_list(self->pid, &family, &count, &ignored))
		count = 0;
	*ret = reallocarray(family, count + 1, sizeof(**ret));
	if (!*ret) {
		free(family);
		return 0;
	}
	(*ret)[count] = self->pid;
	return count + 1;
}

static void threads_poll(struct top *self)
{
	CLEANUP(free) pid_t *pids = NULL;

	self->process_count = find_processes(self, &pids);
	if (self->process_count)
		thread_watch_poll(&self->watch, self->live, self->source, pids,
				  self->process_count);
}

static int open_parts(struct top *self, struct err *err)
{
	struct process_stat stat;
	int r = self->pid ? stat_read(self->pid, /* tid */ 0, &stat, err) : 0;

	if (r)
		return r;
	self->pidfd = self->pid ? (int)syscall(SYS_pidfd_open, self->pid, 0) : -1;
	r = live_new(&self->live, self->pid, /* limits */ NULL, err);
	if (!r)
		live_show(self->live, self->options.language, self->options.full_paths);
	if (!r)
		r = source_start(&self->source, self->live, &self->options.sampling, err);
	if (!r && self->options.counters)
		r = counter_watch_start(&self->counters, self->options.counters, self->pid,
					self->options.version, err);
	if (!r)
		threads_poll(self);
	return r;
}

int top_open(struct top **ret, const struct top_options *options, struct err *err)
{
	struct top *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "no memory");
	self->options = *options;
	self->pid = options->sampling.sampler.pid;
	self->pidfd = -1;
	self->watch.never_ends = !self->pid;
	r = open_parts(self, err);
	if (r)
		top_close(self);
	else
		*ret = self;
	return r;
}

void top_close(struct top *top)
{
	if (!top)
		return;
	counter_watch_free(top->counters);
	source_free(top->source);
	live_free(top->live);
	thread_watch_done(&top->watch);
	if (top->pidfd >= 0)
		close(top->pidfd);
	free(top);
}

int top_pidfd(const struct top *top)
{
	return top->pidfd;
}

bool top_has_ended(struct top *top)
{
	struct source_facts facts;

	source_query(top->source, &facts);
	return facts.has_ended;
}

void top_stop(struct top *top)
{
	source_stop(top->source);
}

static void top_describe(struct top *self, struct picture *picture)
{
	picture->pid = self->pid;
	picture->others = self->process_count - (self->pid && self->process_count);
	if (self->pid)
		thread_read_name(self->pid, self->pid, self->name, sizeof(self->name));
	memcpy(picture->process, self->name, sizeof(picture->process));
	picture->hz = self->options.sampling.sampler.hz;
	picture->has_off_cpu = self->options.sampling.sampler.off_cpu;
	source_query(self->source, &picture->source);
}

/* "Worker-1 (GIL 60 %, waits for it 20 %)", over all polls. */
static void name_thread(struct top *self, struct picture_thread *thread)
{
	struct watched_thread watched;
	pid_t pid;

	if (!live_thread_process(self->live, thread->tid, &pid) ||
	    !source_python_thread(self->source, pid, thread->tid, &watched))
		return;
	if (watched.name[0])
		snprintf(thread->name, sizeof(thread->name), "%s", watched.name);
	if (watched.held || watched.waited)
		print_append(thread->name, sizeof(thread->name),
			     " (GIL %lu %%, waits for it %lu %%)",
			     share_of(watched.held, watched.looks) / 100,
			     share_of(watched.waited, watched.looks) / 100);
}

static int by_tid(const void *left, const void *right)
{
	const struct picture_thread *a = left, *b = right;

	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* Adds the threads of the last poll, including those without a sample. */
static int show_threads(const struct thread_watch *watch, struct picture *picture)
{
	struct picture_thread *more = reallocarray(
		picture->threads, picture->thread_count + watch->threads.count + 1, sizeof(*more));
	size_t known = picture->thread_count;

	if (!more)
		return -ENOMEM;
	picture->threads = more;
	picture->percent = watch->percent;
	qsort(more, known, sizeof(*more), by_tid);
	for (size_t i = 0; i < watch->threads.count; i++) {
		const struct thread *thread = &watch->threads.items[i];
		struct picture_thread wanted = { .tid = thread->tid };
		struct picture_thread *shown = bsearch(&wanted, more, known, sizeof(*more), by_tid);

		if (!shown) {
			shown = &more[picture->thread_count++];
			*shown = wanted;
		}
		snprintf(shown->name, sizeof(shown->name), "%s", thread->name);
		shown->state = thread->state;
		shown->percent = watch->percents[i];
	}
	qsort(more, picture->thread_count, sizeof(*more), by_tid);
	return 0;
}

static int show_counters(const struct top *self, struct picture *picture)
{
	size_t count;
	CLEANUP(free)
	struct watched_counter *rows =
		self->counters ? counter_watch_copy(self->counters, &count) : NULL;

	if (!rows)
		return 0;
	picture->counters = calloc(count, sizeof(*picture->counters));
	if (!picture->counters)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct picture_counter *shown = &picture->counters[picture->counter_count++];

		snprintf(shown->name, sizeof(shown->name), "%s%s%s", rows[i].name,
			 rows[i].subject[0] ? " " : "", rows[i].subject);
		shown->unit = watched_counter_unit(&rows[i]);
		shown->has_value = counter_total_rate(&rows[i], &rows[i].latest, &shown->value);
	}
	return 0;
}

int top_snapshot(struct top *self, const struct picture_wish *wish, struct picture **ret,
		 struct err *err)
{
	if (top_has_ended(self))
		thread_watch_end(&self->watch);
	threads_poll(self);
	if (picture_make(ret, self->live, wish))
		return err_set(err, -ENOMEM, "picture: no memory");
	top_describe(self, *ret);
	if (show_threads(&self->watch, *ret) || show_counters(self, *ret)) {
		picture_free(*ret);
		return err_set(err, -ENOMEM, "picture: no memory");
	}
	for (size_t i = 0; i < (*ret)->thread_count; i++)
		name_thread(self, &(*ret)->threads[i]);
	return 0;
}

int top_freeze(struct top *self, const struct picture *picture, const char *path, char *ret,
	       size_t room, struct err *err)
{
	struct live_counts counts = live_counts(self->live);
	uint64_t samples = 0;
	char unused[64];
	int r, file = path ? -1 : recording_unused_path(self->pid, unused, sizeof(unused), err);

	if (!path && file < 0)
		return file;
	path = path ? path : unused;
	r = freeze_write(self->live,
			 &(struct freeze_options){ .path = path,
						   .new_file = file,
						   .version = self->options.version,
						   .source = &picture->source,
						   .hz = picture->hz,
						   .has_off_cpu = picture->has_off_cpu },
			 &samples, err);
	if (r && path == unused)
		unlink(unused);
	if (!r)
		snprintf(ret, room, "wrote %s: %s%" PRIu64 " sample%s", path,
			 counts.forgotten ? "the newest " : "", samples, plural(samples));
	return r;
}
