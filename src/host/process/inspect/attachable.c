/*
 * The checks before an attach, one small function each, in the order of reporting; read the struct
 * alone, so that every verdict can be tested without such a process.
 */
#include "host/process/inspect/attachable.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REFUSAL_BYTES           128
#define OLDEST_GLIBC_MINOR      31
#define ONE_LIBRARY_GLIBC_MINOR 34 /* libpthread and libdl became part of libc */

static void begin_refusal(const struct process *process, char ret[REFUSAL_BYTES])
{
	snprintf(ret, REFUSAL_BYTES, "cannot attach to %d (%s): ", (int)process->pid,
		 process->status.name);
}

int refuse(const struct process *process, enum exit_code exit, const char *what, struct err *err)
{
	static const int codes[] = {
		[EXIT_NOT_PERMITTED] = -EPERM,    [EXIT_NO_PROCESS] = -ESRCH,
		[EXIT_NOT_ATTACHABLE] = -ENOTSUP, [EXIT_BUSY] = -EBUSY,
		[EXIT_USAGE] = -EINVAL,
	};
	char begin[REFUSAL_BYTES];

	begin_refusal(process, begin);
	err_set(err, codes[exit], "%s%s", begin, what);
	return err_exit(err, exit);
}

/* Conditions that pass by themselves, usually in a moment. */
static int refuse_for_now(const struct process *process, enum exit_code exit, const char *what,
			  struct err *err)
{
	refuse(process, exit, what, err);
	return err->code = -EAGAIN;
}

const char *process_refusal(const struct process *process, const struct err *err)
{
	char begin[REFUSAL_BYTES];
	size_t size;

	begin_refusal(process, begin);
	size = strlen(begin);
	return strncmp(err->what, begin, size) == 0 ? err->what + size : err->what;
}

static int check_ourselves(const struct process *process, struct err *err)
{
	if (process->pid != process->rights.pid)
		return 0;
	refuse(process, EXIT_NOT_ATTACHABLE, "that is limpet itself", err);
	return err_why(err, "a process cannot stop itself and go on working");
}

static int check_thread(const struct process *process, struct err *err)
{
	if (process->status.tgid == process->pid)
		return 0;
	refuse(process, EXIT_USAGE, "that is a thread, not a process", err);
	err_why(err, "%d is a thread of process %d", (int)process->pid, (int)process->status.tgid);
	return err_fix(err, "limpet attach %d", (int)process->status.tgid);
}

static int check_kernel_thread(const struct process *process, struct err *err)
{
	if (!process->stat.is_kernel_thread)
		return 0;
	refuse(process, EXIT_NOT_ATTACHABLE, "it is a kernel thread", err);
	return err_why(err, "it is part of the kernel and has no program of its own");
}

static int check_ended(const struct process *process, struct err *err)
{
	if (process->has_ended) {
		refuse(process, EXIT_NO_PROCESS, "it has ended", err);
		return err_why(
			err, "it is a zombie: only its exit status is left, for its parent %d (%s)",
			(int)process->status.parent, process->parent_name);
	}
	if (process->status.is_dumping_core) {
		refuse(process, EXIT_NO_PROCESS, "it is dying", err);
		return err_why(err, "it has crashed and the kernel writes its core file");
	}
	return 0;
}

static int check_program(const struct process *process, struct err *err)
{
	if (process->program == PROGRAM_32_BIT) {
		refuse(process, EXIT_NOT_ATTACHABLE, "it is a 32-bit program", err);
		return err_why(err, "limpet's agent exists for 64-bit programs only");
	}
	if (process->program == PROGRAM_FOREIGN) {
		refuse(process, EXIT_NOT_ATTACHABLE, "it is a program for another machine", err);
		err_why(err, "%s was built for another architecture than this limpet",
			process->executable);
		return err_fix(err, "use a limpet that was built for the same architecture");
	}
	return 0;
}

static int check_static(const struct process *process, struct err *err)
{
	if (process->libc.flavour != LIBC_NONE)
		return 0;
	refuse(process, EXIT_NOT_ATTACHABLE, "it is statically linked", err);
	return err_why(err, "%s has no dynamic linker in it that could load a library",
		       process->executable);
}

static int check_libc(const struct process *process, struct err *err)
{
	const struct libc *libc = &process->libc;

	if (libc->flavour == LIBC_OTHER) {
		refuse(process, EXIT_NOT_ATTACHABLE, "its C library is not supported", err);
		return err_why(err, "limpet knows glibc and musl, and found neither");
	}
	if (libc->flavour != LIBC_GLIBC || libc->major != 2 ||
	    libc->minor >= ONE_LIBRARY_GLIBC_MINOR)
		return 0;
	if (libc->minor < OLDEST_GLIBC_MINOR) {
		refuse(process, EXIT_NOT_ATTACHABLE, "its C library is too old", err);
		return err_why(err, "it uses glibc 2.%u; limpet needs 2.%u or newer", libc->minor,
			       OLDEST_GLIBC_MINOR);
	}
	if (libc->has_libpthread)
		return 0;
	refuse(process, EXIT_NOT_ATTACHABLE, "it has no thread library", err);
	err_why(err,
		"before glibc 2.%u threads need libpthread, which this program (glibc 2.%u) has not loaded",
		ONE_LIBRARY_GLIBC_MINOR, libc->minor);
	return err_fix(err, "start it with LD_PRELOAD=libpthread.so.0");
}

static int check_seccomp(const struct process *process, struct err *err)
{
	if (process->status.seccomp != 1)
		return 0;
	refuse(process, EXIT_NOT_ATTACHABLE, "it is in strict seccomp mode", err);
	return err_why(err, "the kernel kills it for any system call but read, write and exit");
}

static int check_shadow_stack(const struct process *process, struct err *err)
{
	if (!process->status.has_shadow_stack)
		return 0;
	refuse(process, EXIT_NOT_ATTACHABLE, "it has a shadow stack", err);
	err_why(err, "limpet cannot start a thread there that the CPU would accept");
	return err_fix(err, "start it with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off");
}

static int check_traced(const struct process *process, struct err *err)
{
	if (!process->status.tracer)
		return 0;
	refuse(process, EXIT_BUSY, "it is being traced already", err);
	err_why(err, "process %d (%s) holds it, and the kernel allows one tracer at a time",
		(int)process->status.tracer, process->tracer_name);
	return err_fix(err, "let %s detach, or end it: kill %d",
		       process->tracer_name[0] ? process->tracer_name : "it",
		       (int)process->status.tracer);
}

static int check_stopped(const struct process *process, struct err *err)
{
	if (process->status.state != 'T')
		return 0;
	refuse(process, EXIT_BUSY, "it is stopped", err);
	err_why(err,
		"job control (SIGSTOP, Ctrl-Z) has stopped it, and what is loaded could not run");
	return err_fix(err, "limpet attach %d --cont", (int)process->pid);
}

static int check_shared_memory(const struct process *process, struct err *err)
{
	if (!process->shares_memory_with_parent)
		return 0;
	refuse_for_now(process, EXIT_BUSY, "it borrows the memory of its parent", err);
	err_why(err,
		"it stands between vfork and exec: what is loaded would land in process %d (%s)",
		(int)process->status.parent, process->parent_name);
	return err_fix(err, "try again in a moment, or: limpet attach %d",
		       (int)process->status.parent);
}

static int check_started(const struct process *process, struct err *err)
{
	if (process->libc.flavour != LIBC_NOT_YET)
		return 0;
	refuse_for_now(process, EXIT_NOT_ATTACHABLE, "it has no C library", err);
	err_why(err, "it is still starting, or was linked without one");
	return err_fix(err, "try again in a moment");
}

/* First permanent reasons, then those that a right mends, then those that pass. */
static int (*const checks[])(const struct process *process, struct err *err) = {
	check_ourselves, check_thread,  check_kernel_thread, check_ended,        check_program,
	check_static,    check_libc,    check_seccomp,       check_shadow_stack, permission_judge,
	check_traced,    check_stopped, check_shared_memory, check_started,
};

int process_judge(const struct process *process, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(checks); i++)
		r = checks[i](process, err);
	return r;
}
