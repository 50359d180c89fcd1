/*
 * Puts samples and the work of devices together.
 */
#include "host/model/devices/device_samples.h"

#include "host/core/room.h"
#include "host/core/sorted.h"
#include "host/core/text/path.h"
#include "host/core/text/print.h"
#include "host/model/samples/languages.h"
#include "host/model/samples/samples.h"
#include "host/runtimes/runtimes.h"
#include "shared/base/hash.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct moment {
	uint64_t time_ns;
	uint32_t thread, stack;
};

/* Modules whose functions do not identify the calling program, besides those of runtimes. */
static const char *const others[] = { "[[]limpet]", "libc.so*", "ld-linux*", "[[]kernel]",
				      "[[]vdso]" };

/* The agent's threads do not work for the application. */
static bool is_agent(const struct model_thread *thread)
{
	return strncmp(thread->name, "limpet", strlen("limpet")) == 0 &&
	       strcmp(thread->process->name, thread->name) != 0;
}

static int moment_add(const struct sample_event *event, void *context)
{
	struct device_samples *self = context;

	if (event->kind != SAMPLE_RUNNING || event->stack == STACK_NONE || is_agent(event->thread))
		return 0;
	if (make_room(&self->moments, self->moment_count, &self->moment_room,
		      sizeof(*self->moments)))
		return -ENOMEM;
	self->moments[self->moment_count++] =
		(struct moment){ event->time_ns, event->thread->number, event->stack };
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

int device_samples_init(struct device_samples *self, struct model *model)
{
	bool has_work =
		model_has_domain(model, DOMAIN_KERNEL) || model_has_domain(model, DOMAIN_COPY);
	int r = 0;

	self->model = model;
	if (has_work && model->samples->count)
		r = model_each_sample(model, moment_add, self);
	rows_sort(self->moments, self->moment_count, sizeof(*self->moments), by_time);
	return r;
}

static uint64_t moment_time(const void *moments, size_t index)
{
	return ((const struct moment *)moments)[index].time_ns;
}

/* The first moment that is not before. */
static size_t moment_at(const struct device_samples *self, uint64_t time_ns)
{
	return count_below(self->moments, self->moment_count, time_ns, moment_time);
}

static bool is_runtime(const char *name)
{
	if (runtime_is_code(name))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!fnmatch(others[i], name, 0))
			return true;
	return false;
}

static const struct sample_code *location_code(const struct samples *samples, uint32_t location)
{
	return &samples->codes[samples->functions[samples->locations[location].function].code];
}

/* The innermost line of an interpreted language; where there is none, the innermost function that
 * is not of a runtime. */
static uint32_t stack_location(const struct samples *samples, uint32_t stack)
{
	uint32_t frames[STACK_DEPTH_MAX], native = LOCATION_NONE;
	size_t count = stack_frames(samples, stack, frames);

	for (size_t i = 0; i < count; i++) {
		const struct sample_frame *frame = &samples->frames[frames[i]];
		const struct sample_code *code;

		if (!frame->location_count)
			continue;
		code = location_code(samples, frame->first_location);
		if (language_of_path(code->path) != LANGUAGE_NATIVE)
			return frame->first_location;
		if (native == LOCATION_NONE && !is_runtime(code->name))
			native = frame->first_location;
	}
	return native;
}

/* The sampler and the tracer add a thread of the model each. */
static bool is_same(const struct model_thread *a, const struct model_thread *b)
{
	return a->tid == b->tid && a->process == b->process;
}

static bool moment_in(const struct device_samples *self, const struct call *call, uint32_t *ret)
{
	for (size_t i = moment_at(self, call->begin_ns);
	     i < self->moment_count && self->moments[i].time_ns <= call->end_ns; i++)
		if (is_same(self->model->threads[self->moments[i].thread], call->thread)) {
			*ret = self->moments[i].stack;
			return true;
		}
	return false;
}

static int call_add(struct device_samples *self, const struct call *call)
{
	uint64_t correlation = call_correlation(call);
	struct table_entry *entry;
	uint32_t stack;
	bool is_new;

	if (!correlation || !moment_in(self, call, &stack))
		return 0;
	entry = table_make(&self->launches, call->process->number, correlation, &is_new);
	if (!entry)
		return -ENOMEM;
	entry->value = (uint64_t)stack + 1;
	return 0;
}

static int launch_add(struct device_samples *self, const struct call *call)
{
	const char *name = call_name(call);
	struct table_entry *entry =
		table_find(&self->launches, call->process->number, call_correlation(call));
	struct sampled_row *row;
	uint32_t location;

	if (!entry)
		return 0;
	location = stack_location(self->model->samples, (uint32_t)entry->value - 1);
	row = row_find(&self->by_key,
		       (struct row_key){ hash_bytes(name, strlen(name)),
					 (uint64_t)call->process->number << 32 | location },
		       &self->rows, &self->count, sizeof(*row));
	if (row && !row->kernel)
		*row = (struct sampled_row){ .process = call->process,
					     .kernel = strdup(name),
					     .location = location };
	if (!row || !row->kernel)
		return -ENOMEM;
	row->count++;
	return 0;
}

static int idle_add(struct device_samples *self, const struct call *call, uint64_t device,
		    const struct moment *moment)
{
	uint32_t location = stack_location(self->model->samples, moment->stack);
	const struct model_thread *thread = self->model->threads[moment->thread];
	struct sampled_row *row;

	if (thread->process != call->process)
		return 0;
	row = row_find(&self->by_key,
		       (struct row_key){ (uint64_t)call->process->number << 32 ^ device,
					 (uint64_t)moment->thread << 32 | location },
		       &self->rows, &self->count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->process = call->process;
	row->device = device;
	row->thread = thread;
	row->location = location;
	row->count++;
	return 0;
}

static int gap_add(struct device_samples *self, const struct call *call)
{
	uint64_t device = call_device(call), last_ns;
	bool is_new;
	struct table_entry *entry =
		table_make(&self->devices, call->process->number, device, &is_new);
	int r = 0;

	if (!entry)
		return -ENOMEM;
	last_ns = is_new ? call->end_ns : entry->value;
	entry->value = MAX(last_ns, call->end_ns);
	for (size_t i = moment_at(self, last_ns);
	     !r && i < self->moment_count && self->moments[i].time_ns < call->begin_ns; i++)
		r = idle_add(self, call, device, &self->moments[i]);
	return r;
}

int device_samples_add(struct device_samples *self, const struct call *call)
{
	unsigned domain = call->function->domain;
	int r;

	if (!self->moment_count)
		return 0;
	if (domain_is_in(DOMAINS_LAUNCHES, domain))
		return call_add(self, call);
	if (domain != DOMAIN_KERNEL && domain != DOMAIN_COPY)
		return 0;
	r = gap_add(self, call);
	return r || domain != DOMAIN_KERNEL ? r : launch_add(self, call);
}

static int by_kind(const void *left, const void *right)
{
	const struct sampled_row *a = left, *b = right;

	if (!a->kernel != !b->kernel)
		return a->kernel ? -1 : 1;
	if (!a->kernel && a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->count > b->count ? -1 : a->count < b->count;
}

void device_samples_sort(struct device_samples *self)
{
	rows_sort(self->rows, self->count, sizeof(*self->rows), by_kind);
}

void device_samples_done(struct device_samples *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		free(self->rows[i].kernel);
	free(self->rows);
	free(self->moments);
	table_done(&self->launches);
	table_done(&self->devices);
	table_done(&self->by_key.numbers);
	*self = (struct device_samples){ 0 };
}

const char *sampled_row_place(const struct device_samples *self, const struct sampled_row *row,
			      char *ret, size_t room)
{
	const struct samples *samples = self->model->samples;
	const struct sample_location *location;
	const char *file;

	ret[0] = '\0';
	if (row->location == LOCATION_NONE)
		return ret;
	location = &samples->locations[row->location];
	file = path_base_name(location->file[0] ? location->file
						: location_code(samples, row->location)->name);
	if (location->line)
		print_into(ret, room, "%s (%s:%u)", samples->functions[location->function].name,
			   file, location->line);
	else
		print_into(ret, room, "%s (%s)", samples->functions[location->function].name, file);
	return ret;
}
