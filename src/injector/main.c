/*
 * Carries out one job: stop, check, map, write, start, release. Only the host starts it, and passes
 * the job as a shared memory descriptor.
 */
#include "injector/injector.h"

#include "shared/arch/elf.h"
#include "shared/wire/needs.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define JOB_FD      3
#define RT_PRIORITY 50
#define CLONE_FLAGS                                                                         \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | \
	 CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)

/* Data first, then the code part over its end: never writable and executable at once. */
static int map_region(struct stopped *self)
{
	const uint64_t data[6] = {
		0, REGION_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1ull, 0
	};
	uint64_t code[6] = { 0,
			     REGION_CODE_SIZE,
			     PROT_READ | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			     -1ull,
			     0 };
	uint64_t gadget = self->job->libc.syscall_return;
	long region, ignored;
	int r = remote_do(self, gadget, SYS_mmap, data, &region);

	if (r)
		return r;
	self->job->ret_region = (uint64_t)region;
	code[0] = (uint64_t)region + REGION_CODE;
	return remote_do(self, gadget, SYS_mmap, code, &ignored);
}

static int copy_guards(const struct stopped *self)
{
	struct job *job = self->job;

	if (!job->guard_offset)
		return 0;
	return memory_read(self, self->state.thread_pointer + ARCH_GUARD_OFFSET,
			   job->image + job->guard_offset, ARCH_GUARD_SIZE);
}

/* A region of an earlier attach is used only if its own context is valid. */
static int check_region(const struct stopped *self)
{
	struct boot_context boot;

	if (self->job->mode == JOB_FIRST)
		return 0;
	if (memory_read(self, self->job->region + REGION_DATA + DATA_CONTEXT, &boot,
			sizeof(boot)) ||
	    boot.magic != BOOT_MAGIC || boot.region != self->job->region)
		return job_fail(self->job, JOB_GONE, ESTALE);
	/* BOOT_WRITTEN: an injector was killed before it started a thread. */
	if (!self->job->facts.is_inherited && boot.step != BOOT_ENDED && boot.step != BOOT_FAILED &&
	    boot.step != BOOT_WRITTEN)
		return job_fail(self->job, JOB_LEAVE_ALONE, EBUSY);
	return 0;
}

static int write_region(const struct stopped *self)
{
	struct job *job = self->job;
	struct boot_context *boot = (void *)(job->image + DATA_CONTEXT);
	int r = copy_guards(self);

	if (job->denied & NEED_FOR_TABLE)
		boot->table = BOOT_TABLE_SHARED;
	if (job->has_switched)
		boot->single_due = single_due(job);
	for (uint32_t i = 0; i < job->fixup_count; i++) {
		uint64_t word;

		memcpy(&word, job->image + job->fixups[i].offset, sizeof(word));
		word += job->ret_region;
		memcpy(job->image + job->fixups[i].offset, &word, sizeof(word));
	}
	if (!r && job->mode == JOB_FIRST)
		r = memory_write(self, job->ret_region + REGION_CODE, job->code, job->code_size);
	if (!r)
		r = memory_write(self, job->ret_region + REGION_DATA, job->image, job->image_size);
	return r ? job_fail(job, JOB_BROKEN, -r) : 0;
}

static int start_thread(struct stopped *self)
{
	struct job *job = self->job;
	uint64_t region = job->ret_region, thread = region + job->thread_pointer,
		 word = region + job->tid_word;
	uint64_t args[6];
	long ignored;

	arch_clone_args(args, CLONE_FLAGS, region + REGION_DATA, thread, word);
	return remote_do(self, region + REGION_CODE + CODE_CLONE, SYS_clone, args, &ignored);
}

static int start_by_call(struct stopped *self)
{
	uint64_t region = self->job->ret_region;
	int r = remote_call(self, region + REGION_CODE + CODE_CALL,
			    region + REGION_DATA + DATA_CONTEXT);

	return r ? job_fail(self->job, r == -ESRCH ? JOB_GONE : JOB_BROKEN, -r) : 0;
}

static int unmap_region(struct stopped *self)
{
	const uint64_t args[6] = { self->job->ret_region, REGION_SIZE };
	long ignored;

	if (self->job->mode != JOB_FIRST || !self->job->ret_region)
		return 0;
	return remote_syscall(self, self->job->libc.syscall_return, SYS_munmap, args, &ignored);
}

static void job_work(struct stopped *self)
{
	struct job *job = self->job;
	int r = remote_prepare(self);

	if (r)
		r = job_fail(job, JOB_NO_STACK, -r);
	if (!r)
		r = job->mode == JOB_FIRST ? map_region(self) : 0;
	if (!r)
		r = write_region(self);
	if (!r)
		r = heap_lend(self);
	if (!r && (r = switch_begin(self)))
		r = job_fail(job, JOB_BROKEN, -r);
	if (!r)
		r = job->way == BOOT_WAY_CALL ? start_by_call(self) : start_thread(self);
	if (!r) {
		switch_hold(self);
		job->status = JOB_DONE;
	} else if (job->status != JOB_GONE && !unmap_region(self)) {
		job->ret_region = 0;
	}
	remote_undo(self);
}

static struct job *open_job(void)
{
	uint32_t stacks;
	struct job *job;

	if (pread(JOB_FD, &stacks, sizeof(stacks), offsetof(struct job, stack_count)) !=
		    sizeof(stacks) ||
	    stacks > JOB_STACKS_MAX)
		return NULL;
	job = mmap(NULL, job_size(stacks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		   JOB_FD, 0);
	return job == MAP_FAILED || job->magic != JOB_MAGIC ? NULL : job;
}

/* Only SIGKILL may end the injector during the stop, and no ordinary thread should preempt it. */
static void injector_shield(struct job *job)
{
	struct sched_param priority = { .sched_priority = RT_PRIORITY };

	for (int signal = 1; signal < SIGRTMAX; signal++)
		if (signal != SIGALRM && signal != SIGCHLD)
			sigaction(signal, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	prctl(PR_SET_NAME, "limpet-injector");
	mlockall(MCL_CURRENT | MCL_FUTURE);
	job->has_realtime_priority = !sched_setscheduler(0, SCHED_FIFO, &priority);
	wait_init();
}

int main(void)
{
	static struct stopped self;

	self.job = open_job();
	if (!self.job)
		return EXIT_FAILURE;
	self.job->ret_region = self.job->region;
	if (self.job->mode != JOB_LAUNCH && memory_open(&self))
		return EXIT_SUCCESS;
	injector_shield(self.job);
	if (self.job->mode == JOB_LAUNCH) {
		launch(&self);
		return EXIT_SUCCESS;
	}
	if (stop_thread(&self))
		return EXIT_SUCCESS;
	if (self.job->mode == JOB_SINGLE) {
		single_restore(&self);
		stop_release(&self);
		return EXIT_SUCCESS;
	}
	if (gate_check(&self) || check_region(&self))
		stop_release(&self);
	else
		job_work(&self);
	return EXIT_SUCCESS;
}
