/*
 * Sessions.
 */
#include "host/ui/session.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/foreign.h"
#include "host/process/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* 32 bytes a sample, about 90 a stack: 190 MiB when all is full. */
static const struct live_limits session_limits = {
	.samples = 1u << 21,
	.stacks = 1u << 20,
	.frames = 1u << 18,
	.threads = 1u << 14,
};

static const unsigned kind_bits[UI_KINDS] = {
	[UI_CPU] = KINDS_ON_CPU,
	[UI_OFF_CPU] = KINDS_OFF_CPU,
	[UI_RUNNABLE] = KIND_BIT(SAMPLE_RUNNABLE),
	[UI_WALL] = KINDS_ALL,
};

unsigned ui_sample_kinds(enum ui_kind kind)
{
	return kind_bits[kind];
}

static uint64_t own_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int64_t unix_ms_of(uint64_t monotonic_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 -
	       (int64_t)((now_ns() - monotonic_ns) / 1000000);
}

/* It must be the process that was meant, alive, and not ourselves. */
static int process_check(const struct ui_wish *wish, char *ret_name, size_t room, struct err *err)
{
	CLEANUP(process_done) struct process process = { 0 };
	int r = process_read(wish->pid, &process, err);

	if (r)
		return r;
	foreign_copy(ret_name, room, process.status.name);
	if (wish->has_start && wish->start_tick != process.stat.start_tick) {
		err_set(err, -ESTALE, "%d is another process by now", wish->pid);
		return err_exit(err, EXIT_NO_PROCESS);
	}
	if (process.pid == process.rights.pid) {
		err_set(err, -EINVAL, "%d is limpet itself", wish->pid);
		return err_exit(err, EXIT_NOT_ATTACHABLE);
	}
	if (!process.has_ended && !process.stat.is_kernel_thread)
		return 0;
	err_set(err, -ESRCH, "%d (%s) %s", wish->pid, process.status.name,
		process.has_ended ? "has ended" : "is a thread of the kernel");
	return err_exit(err, process.has_ended ? EXIT_NO_PROCESS : EXIT_NOT_ATTACHABLE);
}

static int source_begin(struct ui_session *self, bool off_cpu, struct err *err)
{
	const struct sampling_options options = {
		.sampler = { .pid = self->wish.pid,
			     .hz = self->wish.hz,
			     .on_cpu = true,
			     .off_cpu = off_cpu,
			     .kernel_frames = true,
			     .children = self->wish.children },
	};
	int r = source_start(&self->source, self->live, &options, err);

	if (!r)
		self->wish.off_cpu = off_cpu;
	return r;
}

/* Waits are a wish, samples are a must. */
int ui_session_start(struct ui_session *self, struct err *err)
{
	int r;

	if (self->source) {
		self->lost += self->facts.lost;
		source_free(self->source);
		self->source = NULL;
	}
	r = source_begin(self, self->wish.off_cpu, err);
	if (r && self->wish.off_cpu) {
		*err = (struct err){ 0 };
		r = source_begin(self, /* off_cpu */ false, err);
	}
	if (!r)
		self->state = UI_RECORDING;
	ui_session_look(self);
	return r;
}

int ui_session_attach(struct ui_session **ret, const struct ui_wish *wish, struct err *err)
{
	struct ui_session *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "session: no memory");
	self->wish = *wish;
	self->state = UI_STOPPED;
	r = process_check(wish, self->name, sizeof(self->name), err);
	if (!r)
		r = live_new(&self->live, wish->pid, &session_limits, err);
	self->origin_ns = now_ns();
	self->start_unix_ms = unix_ms_of(self->origin_ns);
	self->own_cpu_ns = own_cpu_ns();
	if (!r && wish->hz)
		r = ui_session_start(self, err);
	if (r) {
		ui_session_free(self);
		return r;
	}
	ui_session_tick(self);
	*ret = self;
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void model_describe(struct ui_session *self, const struct model *model, const char *path)
{
	int64_t offset = model_wall_offset_ns(model);
	uint64_t boot_ns =
		self->store.begin_ns + (model->first.boot_ns - model->first.monotonic_ns);

	foreign_copy(self->file, sizeof(self->file), base_name(path));
	foreign_copy(self->name, sizeof(self->name),
		     model->process_count ? model->processes[0]->name : self->file);
	self->wish.pid = model->process_count ? model->processes[0]->pid : 0;
	self->wish.hz = model->samples->hz;
	self->wish.off_cpu = (model->samples->flags & SAMPLING_OFF_CPU) != 0;
	self->origin_ns = self->store.begin_ns;
	self->start_unix_ms = ((int64_t)boot_ns + offset) / 1000000;
}

int ui_session_load(struct ui_session **ret, const char *path, struct err *err)
{
	struct ui_session *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "open '%s': no memory", path);
	self->state = UI_FILE;
	self->path = path;
	r = store_open(&self->store, path, err);
	if (r) {
		free(self);
		return r;
	}
	model_describe(self, self->store.model, path);
	*ret = self;
	return 0;
}

void ui_session_free(struct ui_session *session)
{
	if (!session)
		return;
	source_free(session->source);
	live_free(session->live);
	thread_watch_done(&session->watch);
	curves_done(&session->curves);
	stack_tree_done(&session->stacks[0]);
	stack_tree_done(&session->stacks[1]);
	spans_done(&session->spans);
	store_close(&session->store);
	free(session);
}

void ui_session_look(struct ui_session *self)
{
	if (!self->source)
		return;
	source_look(self->source, &self->facts);
	if (self->state != UI_RECORDING)
		return;
	if (self->facts.has_ended)
		self->state = UI_ENDED;
	else if (self->facts.error.code)
		self->state = UI_FAILED;
}

void ui_session_stop(struct ui_session *self, enum ui_state state)
{
	if (self->source)
		source_stop(self->source);
	ui_session_look(self);
	if (self->state != UI_ENDED)
		self->state = state;
}

void ui_session_tick(struct ui_session *self)
{
	if (!ui_session_is_live(self))
		return;
	ui_session_look(self);
	if (self->state == UI_ENDED) {
		thread_watch_end(&self->watch);
		return;
	}
	if (self->state != UI_RECORDING)
		return;
	thread_read_name(self->wish.pid, self->wish.pid, self->name, sizeof(self->name));
	foreign_clean(self->name, "");
	thread_watch_look(&self->watch, self->live, &self->wish.pid, 1);
	curves_look(&self->curves, self->wish.pid);
}

uint64_t ui_session_end_ns(struct ui_session *self)
{
	uint64_t end_ns = self->store.end_ns;

	if (self->state == UI_RECORDING)
		end_ns = now_ns();
	else if (ui_session_is_live(self))
		end_ns = self->curves.last_ns;
	return end_ns > self->origin_ns ? end_ns - self->origin_ns : 0;
}

struct reading {
	struct slice slice;
	slice_reader *read;
	void *context;
	bool *is_wanted;
	const struct ui_range *range;
};

static int threads_choose(struct reading *self)
{
	uint32_t threads = self->slice.model->thread_count;

	if (!self->range->thread_count)
		return 0;
	self->is_wanted = calloc(threads + 1u, sizeof(*self->is_wanted));
	if (!self->is_wanted)
		return -ENOMEM;
	for (uint32_t i = 0; i < self->range->thread_count; i++)
		if (self->range->threads[i] < threads)
			self->is_wanted[self->range->threads[i]] = true;
	self->slice.is_wanted = self->is_wanted;
	return 0;
}

static int reading_run(struct reading *self)
{
	int r = threads_choose(self);

	if (!r)
		r = self->read(&self->slice, self->context);
	free(self->is_wanted);
	return r;
}

static int live_slice_read(struct model *model, void *context)
{
	struct reading *self = context;

	self->slice.model = model;
	self->slice.items = model->samples->kept;
	self->slice.count = model->samples->kept_count;
	return reading_run(self);
}

static int store_slice_read(struct store *store, struct reading *self)
{
	size_t first;

	if (store_has_sums(store))
		self->slice.store = store;

	self->slice.model = store->model;
	self->slice.count = store_find(store, self->slice.from_ns, self->slice.to_ns, &first);
	self->slice.items = store->items ? store->items + first : NULL;
	return reading_run(self);
}

int ui_session_read(struct ui_session *self, const struct ui_range *range, unsigned kinds,
		    slice_reader *read, void *context)
{
	uint64_t end_ns = self->origin_ns + ui_session_end_ns(self);
	struct reading reading = {
		.slice = { .origin_ns = self->origin_ns,
			   .from_ns = self->origin_ns + range->from_ns,
			   .to_ns = range->to_ns ? self->origin_ns + range->to_ns : end_ns + 1,
			   .end_ns = end_ns,
			   .kinds = kinds },
		.read = read,
		.context = context,
		.range = range,
	};

	if (!ui_session_is_live(self))
		return store_slice_read(&self->store, &reading);
	return live_read(self->live, reading.slice.from_ns, UINT64_MAX, live_slice_read, &reading);
}
