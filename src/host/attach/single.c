/*
 * Which of libc's words are restored, and when, is in injector/single.c.
 */
#include "host/attach/attachment.h"

#include "host/attach/children/spawn.h"
#include "host/attach/facts/facts.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/process/memory.h"
#include "host/process/stat.h"
#include "host/process/threads.h"
#include "shared/arch/elf.h"

#include <stdlib.h>
#include <unistd.h>

#define PATIENCE_NS      300000000ull
#define PAUSE_NS         2000000
#define STOP_DEADLINE_MS 100
#define LOOK_MS          50 /* for a filtered thread to leave a timed wait */

static uint64_t keep_if(const struct target *target, uint64_t address, size_t size, uint32_t value)
{
	uint32_t word = 0;

	return address && memory_read(target->memory, address, &word, size) && word == value
		       ? address
		       : 0;
}

/* What an earlier limpet found and, being killed, could not restore. */
static uint32_t due_before(const struct job *job)
{
	const struct boot_context *boot = (const void *)(job->image + DATA_CONTEXT);

	return job->mode == JOB_AGAIN ? boot->single_due : 0;
}

void single_find(const struct target *target, struct job *job)
{
	struct job_single *words = &job->facts.single;
	uint32_t due = due_before(job);

	job->single_known = *words;
	for (size_t i = 0; i < ARRAY_SIZE(words->common); i++)
		if (!(due & SINGLE_DUE_COMMON << i))
			words->common[i] = keep_if(target, words->common[i], 1, 1);
	if (!(due & SINGLE_DUE_STDIO))
		words->stdio = keep_if(target, words->stdio, sizeof(uint32_t), 0);
}

void single_keep(struct single *self, const struct job *job)
{
	*self = (struct single){
		.is_due = job->has_switched || (job->is_alone && due_before(job)),
		.facts = job->facts,
	};
}

static void fill_job(const struct attachment *self, struct job *job)
{
	job->mode = JOB_SINGLE;
	job->way = BOOT_WAY_THREAD;
	job->pid = job->leader = self->target.process.pid;
	job->facts = self->single.facts;
	job->deadline_ms = STOP_DEADLINE_MS;
	job->look_ms = LOOK_MS;
	job->worker_flags = stat_worker_flags();
}

/* Tries the one thread, if it can be stopped now. */
static enum job_status try_once(const struct attachment *self, struct job *job, const int fds[2])
{
	struct candidates list;
	struct err ignored;

	job->status = JOB_LEAVE_ALONE;
	if (candidates_find(&self->target, /* must_wait */ false, &list, &ignored) ||
	    list.count != 1)
		return JOB_LEAVE_ALONE;
	job->tid = list.items[0].tid;
	job->inner_tid = list.items[0].inner_tid;
	job->seen = list.items[0].call;
	job->has_filters = list.items[0].has_filters;
	job->facts.filters_known = MAX(job->facts.filters_known, self->single.facts.filters_known);
	return injector_run(job, fds, &ignored) ? JOB_BROKEN : job->status;
}

static bool may_pass(enum job_status status)
{
	return status == JOB_LEAVE_ALONE || status == JOB_NO_STOP || status == JOB_STOPPED ||
	       status == JOB_FILTERED_WAIT;
}

static bool is_restored(const struct attachment *self)
{
	struct err ignored;
	CLEANUP(close) int lock = exclusion_acquire(&self->target, &ignored);
	int job_fd = -1;
	struct job *job = lock < 0 ? NULL : job_new(&job_fd);
	enum job_status status;
	uint64_t deadline_ns;

	if (!job)
		return false;
	fill_job(self, job);
	deadline_ns = now_ns() + PATIENCE_NS;
	while (may_pass(status = try_once(self, job, (int[]){ job_fd, lock })) &&
	       now_ns() < deadline_ns && target_lives(&self->target))
		sleep_ns(PAUSE_NS);
	job_free(job, job_fd);
	return status == JOB_DONE || status == JOB_GONE;
}

/* If the program has made threads of its own meanwhile, libc's multi-threaded mode is right. */
static bool has_threads(const struct attachment *self)
{
	CLEANUP(free) pid_t *tids = NULL;
	size_t count = 0;

	return !threads_list_own(self->target.process.pid, 2, &tids, &count, NULL) && count > 1;
}

const char *single_restore(struct attachment *self)
{
	uint64_t address = auxv_value(&self->target.process.identity.auxv, AT_RANDOM);
	unsigned char byte;

	/* After exec a read of the memory that was opened before fails. */
	if (!self->single.is_due || !target_lives(&self->target) ||
	    !memory_read(self->target.memory, address, &byte, sizeof(byte)))
		return NULL;
	self->single.is_due = false;
	if (!is_restored(self))
		return has_threads(self)
			       ? NULL
			       : "glibc's locks: the program had one thread, and glibc goes on as if it had several; files, mutexes and the heap are slower";
	if (!self->single.facts.single.stdio)
		return "glibc's locks of files: where it keeps them is not known, and getc and putc are slower";
	return NULL;
}
