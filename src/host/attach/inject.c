/*
 * Builds the injector's job from the facts, tries one thread after the other, and turns the
 * injector's answer into messages.
 */
#include "host/attach/attachment.h"

#include "host/attach/children/blobs.h"
#include "host/attach/children/spawn.h"
#include "host/attach/facts/facts.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/interrupt.h"
#include "host/process/memory.h"
#include "host/process/rights/rights.h"
#include "host/process/stat.h"
#include "host/process/threads.h"
#include "shared/arch/doorstep.h"
#include "shared/arch/elf.h"
#include "shared/wire/needs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAUSE_FIRST_NS   1000000
#define PAUSE_MAX_NS     50000000
#define STOP_DEADLINE_MS 300
#define LOOK_PARTS       8 /* a round's share of the time for all tries */
#define LOOK_MIN_MS      2
#define NS_PER_MS        1000000ull
#define HEAP_PATIENCE_NS 100000000 /* for a thread that is always in the allocator */
#define MAIN_STACK       "[stack]"

/* The messages for the injector's answers, and whether another thread may succeed. */
static const struct {
	bool tries_next;
	enum exit_code exit;
	const char *what, *why, *fix;
} answers[] = {
	[JOB_NO_SEIZE] = { false, EXIT_NOT_PERMITTED, "ptrace was refused", "",
			   "limpet doctor PID" },
	[JOB_NO_STOP] = { true, EXIT_BUSY, "no thread stopped in time",
			  "all threads are in uninterruptible waits, frozen, or starved of CPU time",
			  "try again later" },
	[JOB_GONE] = { true, EXIT_NO_PROCESS, "it ended or executed another program meanwhile", "",
		       "" },
	[JOB_TOO_EARLY] = { true, EXIT_NOT_ATTACHABLE, "it is still being started",
			    "its C library is not initialised yet", "try again in a moment" },
	[JOB_NOT_64_BIT] = { true, EXIT_NOT_ATTACHABLE, "its threads do not run 64-bit code", "",
			     "" },
	[JOB_LEAVE_ALONE] = { true, EXIT_BUSY, "no thread can be stopped safely at the moment",
			      "each was inside the C library, recvmmsg or a restartable sequence, in a special "
			      "CPU mode, handles its own system calls (syscall user dispatch), or has a "
			      "seccomp filter of its own that forbids the attach",
			      "try again" },
	[JOB_FILTERED_WAIT] = { true, EXIT_BUSY,
				"all its threads wait under seccomp filters that limpet has not read yet",
				"after a stop in a timed wait the kernel issues restart_syscall, for which "
				"the filter may kill the process; a seccomp supervisor would be asked "
				"about the same call twice",
				"try again while the process works; --force, if its filter allows "
				"restart_syscall" },
	[JOB_NO_STACK] = { true, EXIT_NOT_ATTACHABLE,
			   "no thread has a stack that limpet can safely use",
			   "limpet cannot prove that the memory below a stack pointer is unused "
			   "(coroutines, a signal handler's stack)",
			   "try again when a thread is idle" },
	[JOB_SECCOMP] = { false, EXIT_NOT_ATTACHABLE, "a seccomp filter of the process forbids it",
			  "", "" },
	[JOB_SECCOMP_UNREADABLE] = { false, EXIT_NOT_ATTACHABLE,
				     "its seccomp filters cannot be read",
				     "reading them needs CAP_SYS_ADMIN; a filter might kill the process",
				     "" },
	[JOB_STOPPED] = { false, EXIT_BUSY, "it is stopped by job control", "",
			  "limpet attach --cont PID" },
	[JOB_CALL_FAILED] = { false, EXIT_FAILED, "a system call failed in it", "", "" },
	[JOB_BROKEN] = { false, EXIT_FAILED, "the injection failed and was undone", "", "" },
};

static bool waits_at_doorstep(const struct target *target, uint64_t address)
{
	struct doorstep doorstep;

	return address && memory_read(target->memory, address, &doorstep, sizeof(doorstep)) &&
	       doorstep.magic == DOORSTEP_MAGIC && doorstep.step == DOORSTEP_IS_THERE;
}

static bool may_be_stack(const struct mapping *mapping)
{
	return mapping->writable && !mapping->shared;
}

static int add_stacks(const struct maps *maps, struct job *job, int job_fd, struct err *err)
{
	size_t count = 0;
	int r;

	for (size_t i = 0; i < maps->count; i++)
		count += may_be_stack(&maps->items[i]);
	job->has_more_stacks = count > JOB_STACKS_MAX;
	count = MIN(count, (size_t)JOB_STACKS_MAX);
	r = job_reserve_stacks(job_fd, count);
	if (r)
		return err_set(err, r, "memory for the injector: %s", strerror(-r));
	for (size_t i = 0; job->stack_count < count; i++) {
		const struct mapping *mapping = &maps->items[i], *below = i ? mapping - 1 : NULL;

		if (may_be_stack(mapping))
			job->stacks[job->stack_count++] = (struct job_stack){
				mapping->start,
				mapping->end,
				!strcmp(mapping->path, MAIN_STACK),
				below && below->end == mapping->start && !below->readable &&
					!below->writable,
			};
	}
	return 0;
}

/* The age of a process for the injector: a starved child may be in its fork for a long time. */
static uint64_t read_cpu_ns(const struct process *process)
{
	struct schedstat times;

	return schedstat_read(process->pid, process->pid, &times) ? process->stat.cpu_ns
								  : times.run_ns;
}

/* True while glibc works without locks, even if the kernel has made threads for itself. */
static bool has_one_thread(const struct target *target)
{
	CLEANUP(free) pid_t *tids = NULL;
	size_t count = 0;

	return target->process.status.threads < 2 ||
	       (!threads_list_own(target->process.pid, 2, &tids, &count, NULL) && count == 1);
}

static void fill_job(const struct target *target, const struct facts *facts, struct job *job)
{
	const struct identity *identity = &target->process.identity;

	job->pid = target->process.memory_tid;
	job->leader = target->process.pid;
	job->is_alone = has_one_thread(target) && target->process.libc.flavour != LIBC_MUSL;
	job->facts.random_address = auxv_value(&identity->auxv, AT_RANDOM);
	memcpy(job->facts.random, identity->random, sizeof(job->facts.random));
	job->libc = facts->places;
	job->way = facts->way;
	job->code_size = (uint32_t)(blob_boot_end - blob_boot);
	memcpy(job->code, blob_boot, job->code_size);
	job->deadline_ms = STOP_DEADLINE_MS;
}

static int build_image(struct attachment *self, const struct modules *modules,
		       const struct facts *facts, struct job *job, struct err *err)
{
	const struct agent_page *page = &self->resident.page;
	struct boot_context old;
	int r = resident_find(&self->target, &self->resident);

	if (r == -EPROTO) {
		err_set(err, r, "an agent of another version of limpet is in it");
		err_fix(err, "unload it with that version: limpet detach --unload %d",
			self->target.process.pid);
		return err_exit(err, EXIT_BUSY);
	}
	if (!r)
		r = resident_await_rest(&self->target, &self->resident, &old);
	if (r == -EBUSY) {
		err_set(err, -EBUSY, "another limpet holds it: process %d (%s)", page->holder_pid,
			page->holder_name);
		err_fix(err, "limpet detach %d", self->target.process.pid);
		return err_exit(err, EXIT_BUSY);
	}
	if (!r) {
		self->report.was_resident = true;
		job->facts.is_inherited = page->pid != self->target.process.status.inner_pid;
		image_build_again(&self->target, facts, &old, job);
		return 0;
	}
	return image_build(&self->target, modules, facts, job, err);
}

static int inject_plan(struct attachment *self, struct job *job, struct err *err)
{
	struct modules modules;
	struct facts facts;
	int r = modules_read_fresh(&self->target, &modules, err);

	if (r)
		return r;
	r = facts_read(&self->target, &modules, &facts, err);
	if (!r) {
		job->facts = facts.job;
		r = build_image(self, &modules, &facts, job, err);
	}
	if (!r)
		fill_job(&self->target, &facts, job);
	modules_done(&modules);
	return r;
}

/* -EAGAIN is for conditions that may soon change; a limit of the target's is not one. */
static int inject_explain(const struct attachment *self, const struct job *job, struct err *err)
{
	bool passes = answers[job->status].tries_next || job->status == JOB_STOPPED;
	int code = job->error == EAGAIN ? -ENOBUFS : -job->error;
	const char *name = needs_name((long)job->nr);
	pid_t pid = self->target.process.pid;

	if (!code)
		code = passes ? -EAGAIN : -ENOTSUP;
	err_set(err, code, "%s", answers[job->status].what);
	if (answers[job->status].why[0])
		err_why(err, "%s", answers[job->status].why);
	if (answers[job->status].fix[0])
		err_fix(err, "%s", answers[job->status].fix);
	if (job->status == JOB_NO_SEIZE)
		err_why(err, "%s", strerror(job->error)), err_fix(err, "limpet doctor %d", pid);
	if (job->status == JOB_NO_STACK && job->has_more_stacks)
		err_why(err,
			"it has more than %u writable mappings, too many to look for its stacks",
			JOB_STACKS_MAX);
	if (job->status == JOB_LEAVE_ALONE && job->error)
		err_why(err, "reading its state failed: %s", strerror(job->error));
	if (job->status == JOB_SECCOMP)
		err_why(err, "the filter does not allow %s, which %s", name,
			job->nr == SYS_restart_syscall
				? "the kernel issues after a stop in a timed wait"
				: "limpet calls in the target"),
			err_fix(err,
				"allow it in the service's filter (systemd: SystemCallFilter=)");
	if (job->status == JOB_SECCOMP_UNREADABLE)
		rights_fix_with(err, "SYS_ADMIN",
				"--force, if the filters are known to be harmless");
	if (job->status == JOB_CALL_FAILED)
		err_why(err, "%s: %s", name, strerror(job->error));
	if (job->status == JOB_STOPPED)
		err_fix(err, "limpet attach --cont %d", pid);
	return err_exit(err, answers[job->status].exit);
}

static int try_thread(struct job *job, const int fds[2], const struct candidate *candidate,
		      struct err *err)
{
	struct boot_context *boot = (void *)(job->image + DATA_CONTEXT);

	boot->libc.is_arena_shared = boot->libc.arena != 0;
	job->tid = candidate->tid;
	job->inner_tid = candidate->inner_tid;
	boot->origin = candidate->inner_tid;
	job->seen = candidate->call;
	job->has_filters = candidate->has_filters;
	return injector_run(job, fds, err);
}

/* One thread after the other, best first, until the job is done or no thread is left. */
static int try_all(struct attachment *self, struct job *job, const int fds[2], uint32_t look_ms,
		   struct err *err)
{
	bool must_wait = job->way == BOOT_WAY_CALL;
	struct candidates list;
	int r = candidates_find(&self->target, must_wait, &list, err);

	if (r)
		return r;
	job->cpu_ns = read_cpu_ns(&self->target.process);
	job->status = JOB_LEAVE_ALONE;
	job->error = 0;
	job->look_ms = look_ms / (uint32_t)MAX(list.count, 1u) + LOOK_MIN_MS;
	((struct boot_context *)(job->image + DATA_CONTEXT))->may_call = list.are_alike;
	for (size_t i = 0; !r && i < list.count && answers[job->status].tries_next; i++) {
		const struct candidate *candidate = &list.items[i];

		r = try_thread(job, fds, candidate, err);
		self->report.tid = candidate->tid;
		if (!r && job->status == JOB_DONE)
			return 0;
		/* A denial by one thread's filter proves nothing about threads without it.  A
		 * filter installed since the thread was ranked is seen in the next round. */
		if ((candidate->is_unlike || !candidate->has_filters) &&
		    (job->status == JOB_SECCOMP || job->status == JOB_SECCOMP_UNREADABLE))
			job->status = JOB_LEAVE_ALONE, job->error = 0;
		if (!target_lives(&self->target))
			break;
	}
	return r;
}

static int carry_out(struct attachment *self, struct job *job, const int fds[2],
		     uint64_t tries_for_ns, struct err *err)
{
	uint64_t deadline_ns = now_ns() + tries_for_ns, heap_ns = now_ns() + HEAP_PATIENCE_NS;
	uint32_t look_ms = (uint32_t)(tries_for_ns / LOOK_PARTS / NS_PER_MS);
	uint64_t pause_ns = PAUSE_FIRST_NS;
	int r;

	for (;;) {
		bool is_outdated;

		job->waits_for_heap = now_ns() < heap_ns;
		r = try_all(self, job, fds, look_ms, err);
		if (r || job->status == JOB_DONE)
			return r;
		/* The process has executed another program since the plan was made. */
		is_outdated = job->status == JOB_GONE && job->error == ESTALE;
		if (!answers[job->status].tries_next || is_outdated ||
		    !target_lives(&self->target) || now_ns() > deadline_ns ||
		    interrupt_is_waiting())
			return inject_explain(self, job, err);
		sleep_ns(pause_ns);
		if (!job->waits_for_heap)
			pause_ns = MIN(2 * pause_ns, (uint64_t)PAUSE_MAX_NS);
	}
}

static void fill_report(struct attachment *self, const struct job *job)
{
	self->context = job->ret_region + REGION_DATA + DATA_CONTEXT;
	self->report.way = job->way;
	self->report.denies_variables = job->denied & NEED_FOR_VARIABLES;
	self->report.denies_stacks = job->denied & NEED_FOR_STACKS;
	self->report.denies_notice = job->denied & NEED_FOR_NOTICE;
	self->report.has_realtime_priority = job->has_realtime_priority;
	self->report.interrupt_ns = job->interrupt_ns;
	self->report.pause_ns = job->pause_ns;
}

static void fill_needs(const struct target *target, const struct attach_options *options,
		       struct job *job)
{
	const struct boot_context *boot = (const void *)(job->image + DATA_CONTEXT);

	job->wishes = (options->wishes_variables ? NEED_FOR_VARIABLES : 0) |
		      (options->wishes_stacks ? NEED_FOR_STACKS : 0) |
		      (options->traces ? 0 : NEED_FOR_NOTICE) | NEED_FOR_TABLE;
	job->needs = NEED_ALWAYS | (options->has_variables ? NEED_FOR_VARIABLES : 0) |
		     (options->traces ? NEED_FOR_TRACING : 0) |
		     (boot->libc.thread_flags ? 0 : NEED_TOLD) |
		     (target_has_proc(target) ? 0 : NEED_WITHOUT_PROC);
}

/* The kernel requires CAP_SYS_ADMIN in the initial user namespace, a reader without filters, and
 * CONFIG_CHECKPOINT_RESTORE. */
static bool can_read_filters(const struct rights *rights)
{
	struct process_status own;

	return rights_have(rights, CAPABILITY_SYS_ADMIN) && !rights->is_user_namespace &&
	       !status_read(getpid(), getpid(), &own, NULL) && !own.seccomp &&
	       !access("/proc/sys/kernel/ns_last_pid", F_OK);
}

int inject(struct attachment *self, const struct attach_options *options, int lock, struct err *err)
{
	int job_fd = -1;
	struct job *job = job_new(&job_fd);
	int r;

	if (!job)
		return err_set(err, -ENOMEM, "no memory for the injector");
	r = inject_plan(self, job, err);
	job->facts.force = options->force || (!r && seccomp_trial_passes(&self->target));
	job->facts.can_read_filters = can_read_filters(&self->target.process.rights);
	job->is_at_doorstep = waits_at_doorstep(&self->target, options->doorstep);
	fill_needs(&self->target, options, job);
	if (!r)
		r = add_stacks(&self->target.process.maps, job, job_fd, err);
	single_find(&self->target, job);
	if (!r)
		r = carry_out(self, job, (int[]){ job_fd, lock }, attach_patience_ns(options), err);
	if (!r) {
		fill_report(self, job);
		single_keep(&self->single, job);
	}
	job_free(job, job_fd);
	return r;
}
