/*
 * Handles the records of perf's rings: samples, and starts and ends of processes and threads.
 */
#include <errno.h>
#include <string.h>

#include "host/core/clock.h"
#include "host/core/text/text.h"
#include "host/process/maps.h"
#include "host/process/rights/rights.h"
#include "host/sampling/copy/copy.h"

#define ANONYMOUS "//anon" /* perf's name for mappings that maps shows without one */

static int on_running(struct copy_round *round, const struct perf_record *record)
{
	struct copy_sampler *self = round->self;
	const struct perf_event_attr *attr = &self->events.attrs.items[COPY_CLOCK];
	struct followed *process = copy_process_of(round, record->pid);
	struct perf_sample from;
	uint32_t ticks;

	if (!process || !coverage_counts(&self->coverage, &self->events, record->tid, record->id))
		return 0;
	ticks = throttle_take(&self->throttle);
	if (!ticks)
		return 0;
	if (perf_sample_read(&from, record, attr->sample_type & PERF_SAMPLE_CALLCHAIN) < 0)
		return -EBADMSG;
	from.kernel_count = MIN(from.kernel_count, COPY_KERNEL_FRAMES);
	*self->sample = (struct sample){
		.time_ns = record->time_ns,
		.weight_ns = copy_period_ns(&self->options) * ticks,
		.pid = (uint32_t)record->pid,
		.tid = (uint32_t)record->tid,
		.cpu = record->cpu,
		.kind = SAMPLE_RUNNING,
		.state = 'R',
	};
	copy_walk(self, &from, process);
	copy_add_interpreted(self, process, record->tid, record->time_ns);
	copy_emit(round, process);
	return 0;
}

/* With two kinds of events, the kind of one that is closed is not known any more. */
static int on_sample(struct copy_round *round, const struct perf_record *record)
{
	struct copy_sampler *self = round->self;
	const struct perf_event *event = NULL;

	if (!self->options.off_cpu)
		return on_running(round, record);
	event = perf_events_find(&self->events, record->id);
	if (event)
		return event->which == COPY_SWITCHES ? copy_on_leaving(round, record)
						     : on_running(round, record);
	self->counts.lost++;
	return 0;
}

/* Both begin as the header does, then { id, lost } or { lost }. */
static int on_lost(struct copy_round *round, const struct perf_record *record)
{
	uint64_t words[2];

	memcpy(words, record->header + 1, sizeof(words));
	round->self->counts.lost += record->header->type == PERF_RECORD_LOST ? words[1] : words[0];
	return 0;
}

/* PERF_RECORD_MMAP2 in the kernel's layout, behind the header. */
struct mmap2 {
	uint32_t pid, tid;
	uint64_t address, size, offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char name[];
};

/* -EBADMSG: a field is missing. */
static int mapping_read(struct mapping *ret, const struct perf_record *record)
{
	const struct mmap2 *from = (const struct mmap2 *)(record->header + 1);
	const char *end = (const char *)record->header + record->header->size - PERF_COMMON_BYTES;
	size_t room;

	if (end <= from->name || from->size > UINT64_MAX - from->address || !from->size)
		return -EBADMSG;
	room = (size_t)(end - from->name);
	*ret = (struct mapping){
		.start = from->address,
		.end = from->address + from->size,
		.offset = from->offset,
		.inode = from->inode,
		.dev_major = from->dev_major,
		.dev_minor = from->dev_minor,
		.readable = true,
		.executable = true,
	};
	if (strncmp(from->name, ANONYMOUS, MIN(room, sizeof(ANONYMOUS))))
		text_copy((struct text){ from->name, from->name + strnlen(from->name, room) },
			  ret->path, sizeof(ret->path));
	return 0;
}

static int on_mapping(struct copy_round *round, const struct perf_record *record)
{
	struct followed *process = followed_find(&round->self->processes, record->pid);
	struct mapping mapping;

	if (!process || process->is_unread || mapping_read(&mapping, record) < 0)
		return 0;
	generated_code_seek_again(&process->generated);
	process->was_interpreter_sought = false;
	return space_map(process->space, &mapping);
}

/* The kernel closes the events of a program that has gained rights.  Each has reported that before:
 * records older than the new events have been handled. */
static void renew_events(struct copy_sampler *self, struct followed *process, uint64_t executed_ns)
{
	struct err err = { 0 };

	if (self->is_stopped || executed_ns <= process->renewed_ns ||
	    !program_is_privileged(process->pid))
		return;
	process->renewed_ns = now_ns();
	process->is_unread = true;
	if (!coverage_open(&self->coverage, &self->events, process->pid, /* is_heir */ true, &err))
		perf_events_switch(&self->events, true);
	else if (err.code != -ESRCH)
		sampler_limit(&self->base,
			      "process %d is not seen any more: it has executed a program with "
			      "more rights: %s",
			      (int)process->pid, err.what);
}

static int on_name(struct copy_round *round, const struct perf_record *record)
{
	struct followed *process = followed_find(&round->self->processes, record->pid);

	if (!process || !(record->header->misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	followed_forget(process);
	coverage_forget(&round->self->coverage, record->tid);
	renew_events(round->self, process, record->time_ns);
	round->listener->process(
		round->listener->context,
		&(struct sampled_process){ .pid = record->pid, .parent = record->pid });
	return 0;
}

/* { pid, ppid, tid, ptid, time } of the new one. */
static int on_fork(struct copy_round *round, const struct perf_record *record)
{
	struct copy_sampler *self = round->self;
	struct followed *child;
	uint32_t ids[4];

	memcpy(ids, record->header + 1, sizeof(ids));
	coverage_forget(&self->coverage, (pid_t)ids[2]);
	if (ids[0] == ids[1] || !self->options.children ||
	    followed_find(&self->processes, (pid_t)ids[0]))
		return 0;
	if (followed_add_child(&self->processes, (pid_t)ids[0], (pid_t)ids[1], &child))
		return -ENOMEM;
	round->listener->process(
		round->listener->context,
		&(struct sampled_process){ .pid = (pid_t)ids[0], .parent = (pid_t)ids[1] });
	return 0;
}

static int on_end(struct copy_round *round, const struct perf_record *record)
{
	coverage_forget(&round->self->coverage, record->tid);
	off_cpu_forget(&round->self->off_cpu, record->tid);
	return 0;
}

/* By the type of the record; others are ignored. */
static int (*const handlers[])(struct copy_round *round, const struct perf_record *record) = {
	[PERF_RECORD_LOST] = on_lost,         [PERF_RECORD_COMM] = on_name,
	[PERF_RECORD_EXIT] = on_end,          [PERF_RECORD_FORK] = on_fork,
	[PERF_RECORD_SAMPLE] = on_sample,     [PERF_RECORD_MMAP2] = on_mapping,
	[PERF_RECORD_LOST_SAMPLES] = on_lost, [PERF_RECORD_SWITCH] = copy_on_switch,
};

int copy_handle_records(struct copy_round *round, const struct perf_batch *batch)
{
	int r = 0;

	for (size_t i = 0; !r && i < batch->count; i++) {
		unsigned type = batch->items[i].header->type;

		if (type < ARRAY_SIZE(handlers) && handlers[type])
			r = handlers[type](round, &batch->items[i]);
	}
	return r;
}
