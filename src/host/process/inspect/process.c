/*
 * Collects everything about a process; reads /proc, stops nothing, changes nothing.
 */
#include "host/process/inspect/process.h"

#include <elf.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/json.h"
#include "host/core/text/secrets.h"
#include "host/core/text/text.h"
#include "host/process/memory.h"
#include "host/process/procfs.h"

static bool read_elf_header(pid_t pid, Elf64_Ehdr *ret)
{
	char path[32], bytes[sizeof(*ret) + 1];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	size = text_read_small(path, bytes, sizeof(bytes));
	if (size < (ssize_t)sizeof(*ret))
		return false;
	memcpy(ret, bytes, sizeof(*ret));
	return memcmp(ret->e_ident, ELFMAG, SELFMAG) == 0;
}

/* x32 and ILP32 programs have the machine of 64-bit ones but the smaller class. */
static enum program_kind find_program_kind(const struct viewer *viewer, pid_t pid)
{
	Elf64_Ehdr header;

	if (!viewer->machine || !read_elf_header(pid, &header))
		return PROGRAM_UNKNOWN;
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return PROGRAM_32_BIT;
	return header.e_machine == viewer->machine ? PROGRAM_OURS : PROGRAM_FOREIGN;
}

void viewer_init(struct viewer *ret)
{
	Elf64_Ehdr header;

	memset(ret, 0, sizeof(*ret));
	rights_read(&ret->rights);
	users_init(&ret->users);
	if (read_elf_header(getpid(), &header))
		ret->machine = header.e_machine;
}

void viewer_done(struct viewer *viewer)
{
	users_done(&viewer->users);
}

/* After the first thread's end its memory is no longer in /proc/PID; any other thread still shows
 * it. */
static void find_memory_thread(struct process *process)
{
	CLEANUP(free) pid_t *tids = NULL;
	struct process_status status;
	struct err ignored;
	size_t count;

	process->memory_tid = process->pid;
	process->has_ended = process->status.state == 'Z' || process->status.state == 'X';
	if (!process->has_ended || process->status.threads < 2 ||
	    proc_list(process->pid, "task", &tids, &count, &ignored) < 0)
		return;
	for (size_t i = 0; i < count && process->has_ended; i++) {
		if (status_read(process->pid, tids[i], &status, &ignored) < 0 || !status.has_memory)
			continue;
		process->memory_tid = tids[i];
		process->has_ended = false;
	}
}

void process_refresh(struct process *process)
{
	struct err ignored;

	if (!status_read(process->pid, process->pid, &process->status, &ignored))
		find_memory_thread(process);
}

static void read_command(struct process *process)
{
	struct err ignored;
	ssize_t size = proc_read_small(process->pid, "cmdline", process->command,
				       sizeof(process->command), &ignored);

	if (size <= 0) {
		process->command[0] = '\0';
		return;
	}
	size = (ssize_t)secrets_hide(process->command, (size_t)size);
	process->command[size] = '\0';
	for (ssize_t i = 0; i < size - 1; i++)
		if ((unsigned char)process->command[i] < ' ')
			process->command[i] = ' ';
	for (ssize_t i = size - 1; i >= 0 && strchr(" \n", process->command[i]); i--)
		process->command[i] = '\0';
}

static void read_name(pid_t pid, char *ret, size_t capacity)
{
	struct process_stat stat;
	struct err ignored;

	if (pid && stat_read(pid, 0, &stat, &ignored) == 0)
		snprintf(ret, capacity, "%s", stat.name);
	else
		ret[0] = '\0';
}

/* The owner of /proc/PID is always the user; a file inside belongs to root when not dumpable. */
static void read_rights(struct process *process)
{
	char path[32];
	struct stat stat;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)process->memory_tid);
	process->is_private = lstat(path, &stat) == 0 && stat.st_uid != process->status.euid;
	process->shares_memory_with_parent =
		process->status.parent &&
		syscall(SYS_kcmp, process->pid, process->status.parent, KCMP_VM, 0, 0) == 0;
	namespaces_read(process->pid, &process->namespaces);
}

/* Reads all that needs the right to read the process. */
static void read_inside(struct viewer *viewer, struct process *process)
{
	CLEANUP(close) int memory = memory_open(process->memory_tid);
	struct err ignored;

	process->access = MIN(memory, 0);
	process->program = find_program_kind(viewer, process->memory_tid);
	if (maps_read(process->memory_tid, &process->maps, &ignored) < 0)
		process->maps = (struct maps){ 0 };
	process->runtimes = runtimes_find(&process->maps);
	if (process->program == PROGRAM_OURS)
		libc_find(&process->maps, &process->identity.auxv, memory, &viewer->libcs,
			  &process->libc);
}

int process_inspect_briefly(pid_t pid, struct process *ret, struct err *err)
{
	memset(ret, 0, sizeof(*ret));
	ret->pid = pid;
	if (status_read(pid, pid, &ret->status, err) < 0 || stat_read(pid, 0, &ret->stat, err) < 0)
		return err->code;
	ret->stat.is_kernel_thread |= ret->status.is_kernel_thread;
	find_memory_thread(ret);
	if (proc_read_link(ret->memory_tid, "exe", ret->executable, sizeof(ret->executable)) < 0)
		ret->executable[0] = '\0';
	read_command(ret);
	read_name(ret->status.tracer, ret->tracer_name, sizeof(ret->tracer_name));
	read_name(ret->status.parent, ret->parent_name, sizeof(ret->parent_name));
	return 0;
}

int process_inspect(struct viewer *viewer, pid_t pid, struct process *ret, struct err *err)
{
	int r = process_inspect_briefly(pid, ret, err);

	ret->rights = viewer->rights;
	if (!r)
		r = identity_read(pid, ret->memory_tid, &ret->identity, err);
	if (r < 0)
		return r;
	users_name(&viewer->users, ret->status.euid, ret->user, sizeof(ret->user));
	if (ret->stat.is_kernel_thread || ret->has_ended)
		return 0;
	read_rights(ret);
	read_inside(viewer, ret);
	return 0;
}

int process_read(pid_t pid, struct process *ret, struct err *err)
{
	CLEANUP(viewer_done) struct viewer viewer;

	viewer_init(&viewer);
	return process_inspect(&viewer, pid, ret, err);
}

void process_done(struct process *process)
{
	maps_done(&process->maps);
}

int process_each(struct viewer *viewer, process_visitor *visit, void *context, struct err *err)
{
	CLEANUP(free) pid_t *pids = NULL;
	size_t count;
	int r = proc_list(0, "", &pids, &count, err);

	for (size_t i = 0; r == 0 && i < count; i++) {
		CLEANUP(process_done) struct process process;
		struct err ignored;

		if (process_inspect(viewer, pids[i], &process, &ignored) == 0)
			visit(&process, context);
	}
	return r;
}

unsigned process_cpu_permille(const struct process *process)
{
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK),
		 start_ns = process->stat.start_tick * tick_ns, boot_ns = boot_now_ns();

	if (boot_ns <= start_ns)
		return 0;
	return (unsigned)(process->stat.cpu_ns * 1000 / (boot_ns - start_ns));
}

void process_put_json(struct json *json, const struct process *process)
{
	const char state[] = { process->status.state, '\0' };

	json_text(json, "name", process->status.name);
	json_text(json, "command", process->command);
	json_text(json, "executable", process->executable);
	json_text(json, "user", process->user);
	json_number(json, "uid", process->status.euid);
	json_text(json, "state", state);
	json_number(json, "threads", process->status.threads);
	json_number(json, "cpu_ns", process->stat.cpu_ns);
	json_number(json, "cpu_permille", process_cpu_permille(process));
}
