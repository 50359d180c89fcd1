/*
 * The child waits until the injector has seized it, then executes the program; the injector lays
 * the doorstep (injector/launch.c).  Only the injector uses ptrace.
 */
#include "host/attach/launch/launch.h"

#include "host/attach/children/spawn.h"
#include "host/attach/facts/modules.h"
#include "host/attach/facts/target.h"
#include "host/core/clock.h"
#include "host/core/notes.h"
#include "host/core/self/environment.h"
#include "host/process/memory.h"
#include "host/process/procfs.h"
#include "host/process/rights/rights.h"
#include "host/process/stat.h"
#include "shared/arch/doorstep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEIZE_STEP_NS 50000
#define END_STEP_NS   2000000
#define END_NS        2000000000ull
#define NOT_EXECUTED  127

/* In the child.  PR_SET_PTRACER lets the injector, which is no ancestor, attach under Yama's
 * ptrace_scope 1; it ends with the parent. */
_Noreturn static void become(struct job *job, char *const argv[], const sigset_t *mask,
			     const struct sigaction *on_child)
{
	prctl(PR_SET_PTRACER, job->parent);
	/* Pairs with the release in the injector's launch.c. */
	while (!__atomic_load_n(&job->is_seized, __ATOMIC_ACQUIRE)) {
		if (getppid() != job->parent)
			_exit(NOT_EXECUTED);
		sleep_ns(SEIZE_STEP_NS);
	}
	sigaction(SIGCHLD, on_child, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvpe(argv[0], argv, environment_given());
	job->execve_error = errno;
	_exit(NOT_EXECUTED);
}

static int refuse_execution(const char *name, int error, struct err *err)
{
	err_set(err, -error, "cannot start '%s': %s", name,
		error == ENOENT ? "there is no such program" : strerror(error));
	if (error == ENOENT && !strchr(name, '/'))
		err_why(err, "no folder in PATH has it");
	else if (error == ENOENT)
		err_why(err, "the file, or the interpreter that its first line names, is missing");
	else if (error == EACCES)
		err_why(err, "it is no file that may be executed");
	return err_exit(err, EXIT_FAILED);
}

/* The messages for the injector's answers; the program was not run in any of these cases. */
static const struct {
	enum exit_code exit;
	const char *why, *fix;
} answers[] = {
	[JOB_NO_LINKER] = { EXIT_NOT_ATTACHABLE,
			    "it has no dynamic linker (it is statically linked, or is one itself), "
			    "so no library can be loaded into it",
			    "limpet record -- PROGRAM, without traces, samples it: that needs no library" },
	[JOB_NOT_64_BIT] = { EXIT_NOT_ATTACHABLE, "it does not run 64-bit code", "" },
	[JOB_PRIVILEGED] = { EXIT_NOT_PERMITTED,
			     "it gains rights when it starts (setuid, setgid, file capabilities), and "
			     "limpet does not trace such a program from the beginning",
			     "start it, then as root: limpet record -p PID" },
	[JOB_NO_SEIZE] = { EXIT_NOT_PERMITTED, "ptrace was refused", "limpet doctor" },
	[JOB_NO_STOP] = { EXIT_FAILED, "it could not be loaded in time", "try again" },
	[JOB_GONE] = { EXIT_NO_PROCESS, "it was killed before it began", "" },
	[JOB_BROKEN] = { EXIT_FAILED, "it could not be prepared", "" },
};

static int launch_explain(const char *name, const struct job *job, struct err *err)
{
	bool is_known = job->status < ARRAY_SIZE(answers) && answers[job->status].why;
	unsigned answer = is_known ? job->status : JOB_BROKEN;

	if (job->status == JOB_NOT_EXECUTED)
		return refuse_execution(name, job->error, err);
	err_set(err, job->error ? -job->error : -ENOTSUP, "cannot trace '%s' from its beginning",
		name);
	err_why(err, "%s%s%s; it was not run", answers[answer].why, job->error ? ": " : "",
		job->error ? strerror(job->error) : "");
	if (answers[answer].fix[0])
		err_fix(err, "%s", answers[answer].fix);
	return err_exit(err, answers[answer].exit);
}

static int lay_doorstep(struct launch *self, const char *name, struct job *job, int job_fd,
			struct err *err)
{
	struct rights rights;
	int r;

	rights_read(&rights);
	job->is_unprivileged = !rights_have(&rights, CAPABILITY_SYS_PTRACE);
	job->mode = JOB_LAUNCH;
	job->pid = job->tid = job->leader = self->pid;
	r = injector_run(job, (int[]){ job_fd, -1 }, err);
	if (r)
		return err_while(err, "start '%s'", name);
	if (job->status != JOB_DONE)
		return launch_explain(name, job, err);
	self->doorstep = job->ret_region + DOORSTEP_DATA;
	return 0;
}

/* Waits with a limit: a process inside the kernel, or held by another tracer, does not end by a
 * signal. */
static bool launch_ends_in_time(struct launch *self)
{
	uint64_t until_ns = now_ns() + END_NS;

	while (!launch_has_ended(self, false) && now_ns() < until_ns)
		sleep_ns(END_STEP_NS);
	return self->has_ended;
}

static int explain_end(struct launch *self, struct err *err)
{
	char buffer[96] = "it has not come to its end";

	if (launch_ends_in_time(self))
		launch_describe(self, buffer, sizeof(buffer));
	err_set(err, -ESRCH, "the program ended before it began: %s", buffer);
	err_why(err, "the dynamic linker or a library of its ended it");
	return err_exit(err, EXIT_NO_PROCESS);
}

static int open_descriptors(struct launch *self, struct err *err)
{
	self->memory = memory_open(self->pid);
	/* An exiting child has no memory any more, though it is not yet reported as ended. */
	if (self->memory == -ESRCH || (self->memory < 0 && launch_has_ended(self, false)))
		return explain_end(self, err);
	if (self->memory < 0)
		return err_set(err, self->memory, "cannot look at the program that was started: %s",
			       strerror(-self->memory));
	return 0;
}

static int launch_spawn(struct launch *self, char *const argv[], const sigset_t *mask,
			struct job *job, struct err *err)
{
	struct sigaction plain = { .sa_handler = SIG_DFL }, on_child;

	/* SIGCHLD must not be ignored, as some callers have it: the status of children would be
	 * lost. */
	sigaction(SIGCHLD, &plain, &on_child);
	job->parent = getpid();
	self->pid = fork();
	if (self->pid < 0)
		return err_set(err, -errno, "cannot start '%s': %s", argv[0], strerror(errno));
	if (self->pid == 0)
		become(job, argv, mask, &on_child);
	self->pidfd = (int)syscall(SYS_pidfd_open, self->pid, 0);
	return self->pidfd < 0 ? err_set(err, -errno, "pidfd_open: %s", strerror(errno)) : 0;
}

int launch_start(struct launch *ret, char *const argv[], const sigset_t *mask, bool takes_static,
		 struct err *err)
{
	int job_fd = -1, r;
	struct job *job = job_new(&job_fd);

	*ret = (struct launch){ .pidfd = -1, .memory = -1 };
	if (!job)
		return err_set(err, -ENOMEM, "no memory for the injector");
	job->takes_static = takes_static;
	r = proc_check(err);
	if (!r)
		r = launch_spawn(ret, argv, mask, job, err);
	if (!r)
		r = lay_doorstep(ret, argv[0], job, job_fd, err);
	if (!r)
		r = open_descriptors(ret, err);
	job_free(job, job_fd);
	if (r)
		launch_done(ret);
	return r;
}

int launch_poll(struct launch *self, struct err *err)
{
	struct process_stat stat;
	struct doorstep doorstep;
	bool is_there = memory_read(self->memory, self->doorstep, &doorstep, sizeof(doorstep)) &&
			doorstep.magic == DOORSTEP_MAGIC && doorstep.step != DOORSTEP_HAS_LEFT;

	if (self->has_passed_by)
		return 1;
	if (is_there)
		return doorstep.step == DOORSTEP_IS_THERE && !doorstep.errand;
	if (launch_has_ended(self, false))
		return explain_end(self, err);
	/* A process loses its memory before it has ended. */
	if (stat_read(self->pid, self->pid, &stat, NULL) || stat.is_exiting)
		return 0;
	/* The doorstep is gone with the memory that it was in, or the program has been kept from
	 * its getppid call there. */
	self->has_passed_by = self->is_let_go = true;
	self->doorstep = 0;
	return 1;
}

static int launch_write(struct launch *self, size_t offset, const void *word, size_t size,
			struct err *err)
{
	off_t address = (off_t)(self->doorstep + offset);

	if (pwrite(self->memory, word, size, address) == (ssize_t)size ||
	    launch_has_ended(self, false))
		return 0;
	return err_set(err, -EIO, "cannot write to the program that was started: %s",
		       strerror(errno));
}

/* The address of glibc's mallopt; 0: it has none. */
static uint64_t find_mallopt(const struct target *target)
{
	struct modules modules;
	const struct module *libc;
	uint64_t address;
	struct err ignored;

	if (target->process.libc.flavour != LIBC_GLIBC || modules_read(target, &modules, &ignored))
		return 0;
	libc = modules_at(&modules, target->process.libc.base);
	if (!libc || elf_image_symbol(&libc->image, "mallopt", &address))
		address = 0;
	modules_done(&modules);
	return address;
}

/* Calls mallopt with a parameter that does not exist: it then only sets up the allocator. */
int launch_prepare_allocator(struct launch *self, struct err *err)
{
	uint64_t argument = INT32_MAX, function = 0;
	struct target target;
	bool is_musl = false;
	int r = 0;

	if (self->has_passed_by)
		return 0;
	if (!target_inspect(&target, self->pid, err)) {
		function = find_mallopt(&target);
		is_musl = target.process.libc.flavour == LIBC_MUSL;
		target_close(&target);
	}
	/* At the doorstep musl is not initialised, and waiting does not change that. */
	if (is_musl) {
		err_set(err, -ENOTSUP, "this program uses musl");
		err_why(err,
			"programs from their beginning are traced with glibc only; it was not run");
		return err_exit(err, EXIT_NOT_ATTACHABLE);
	}
	if (function)
		r = launch_write(self, offsetof(struct doorstep, argument), &argument,
				 sizeof(argument), err);
	if (function && !r)
		r = launch_write(self, offsetof(struct doorstep, errand), &function,
				 sizeof(function), err);
	return r;
}

int launch_release(struct launch *self, struct err *err)
{
	uint32_t yes = 1;
	int r = 0;

	if (!self->is_let_go)
		r = launch_write(self, offsetof(struct doorstep, go), &yes, sizeof(yes), err);
	self->is_let_go |= !r;
	return r;
}

bool launch_has_ended(struct launch *self, bool waits)
{
	pid_t r = 0;

	while (!self->has_ended &&
	       (r = waitpid(self->pid, &self->status, waits ? 0 : WNOHANG)) < 0 && errno == EINTR)
		;
	self->has_ended |= r != 0; /* also where it was reaped elsewhere */
	return self->has_ended;
}

const char *launch_describe(const struct launch *self, char *buffer, size_t room)
{
	if (WIFSIGNALED(self->status))
		snprintf(buffer, room, "killed by signal %d (%s)%s", WTERMSIG(self->status),
			 strsignal(WTERMSIG(self->status)),
			 WCOREDUMP(self->status) ? ", core dumped" : "");
	else
		snprintf(buffer, room, "exit status %d", WEXITSTATUS(self->status));
	return buffer;
}

void launch_done(struct launch *self)
{
	if (self->pid > 0 && !self->is_let_go && !launch_has_ended(self, false)) {
		kill(self->pid, SIGKILL);
		if (!launch_ends_in_time(self))
			note_add("%d was killed before it began and has not ended: the kernel or "
				 "another tracer holds it; it was left",
				 (int)self->pid);
	}
	if (self->pidfd >= 0)
		close(self->pidfd);
	if (self->memory >= 0)
		close(self->memory);
	self->pidfd = self->memory = -1;
}
