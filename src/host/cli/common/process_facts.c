/*
 * Prints processes as text and as JSON.
 */
#include "host/cli/common/process_facts.h"

#include "host/attach/listener.h"
#include "host/cli/common/command.h"
#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/process/threads.h"

static const char *const program_names[] = {
	[PROGRAM_UNKNOWN] = "unknown",
	[PROGRAM_OURS] = "64-bit",
	[PROGRAM_32_BIT] = "32-bit",
	[PROGRAM_FOREIGN] = "for another machine",
};

static const char *const sameness_names[] = {
	[SAME_UNKNOWN] = "unknown",
	[SAME_YES] = "same",
	[SAME_NO] = "other",
};

static const char *seccomp_name(int mode)
{
	static const char *const names[] = { "off", "strict", "filter" };

	return mode >= 0 && mode < (int)ARRAY_SIZE(names) ? names[mode] : "unknown";
}

const char *show_command(const struct process *process, char *buffer, size_t capacity)
{
	if (process->command[0])
		snprintf(buffer, capacity, "%s", process->command);
	else
		snprintf(buffer, capacity, "[%s]", process->status.name);
	return buffer;
}

char *show_short_command(const struct process *process, char *buffer, size_t capacity)
{
	char *command = buffer;

	show_command(process, buffer, capacity);
	for (char *at = command; *at && *at != ' '; at++)
		if (*at == '/' && at[1] && at[1] != ' ')
			command = at + 1;
	return command;
}

/* Paths of libraries, by runtime. */
static void show_runtime_json(struct json *json, const struct process *process, unsigned runtime)
{
	bool is_open = false;

	for (const struct runtime_library *it = runtime_libraries; it->stem; it++) {
		const char *path;

		if (it->runtime != runtime || !it->key)
			continue;
		if (!is_open)
			json_object(json, runtime_name(runtime));
		is_open = true;
		path = runtime_library_path(&process->maps, it);
		json_text(json, it->key, path ? path : "");
	}
	if (is_open)
		json_object_end(json);
}

/* Versions of libraries, as far as they are known before a trace. */
static void show_runtimes(const struct process *process)
{
	int last = -1;

	for (const struct runtime_library *it = runtime_libraries; it->stem; it++) {
		const char *path = runtime_library_path(&process->maps, it), *title;

		if (!it->label || !(process->runtimes >> it->runtime & 1))
			continue;
		title = last == (int)it->runtime ? "" : runtime_title(it->runtime);
		last = (int)it->runtime;
		if (path)
			print(stdout, "  %-11s %s %s\n", title, it->label, path);
		else
			print(stdout, "  %-11s %s\n", title, it->absent);
	}
}

static void show_libraries_json(struct json *json, const struct process *process)
{
	const struct libc *libc = &process->libc;
	char version[32];

	snprintf(version, sizeof(version), "%u.%u.%u", libc->major, libc->minor, libc->patch);
	json_object(json, "libc");
	json_text(json, "flavour", libc_flavour_name(libc->flavour));
	json_text(json, "version", libc->major ? version : "");
	json_text(json, "path", libc->path);
	json_number(json, "base", libc->base);
	json_object_end(json);
	json_object(json, "namespaces");
	json_text(json, "mnt", sameness_names[process->namespaces.mnt]);
	json_text(json, "pid", sameness_names[process->namespaces.pid]);
	json_text(json, "user", sameness_names[process->namespaces.user]);
	json_text(json, "net", sameness_names[process->namespaces.net]);
	json_number(json, "inner_pid", (uint64_t)process->status.inner_pid);
	json_object_end(json);
	json_list(json, "runtimes");
	for (unsigned i = 0; i < RUNTIME_COUNT; i++)
		if (process->runtimes >> i & 1)
			json_text(json, NULL, runtime_name(i));
	json_list_end(json);
	for (unsigned i = 0; i < RUNTIME_COUNT; i++)
		if (process->runtimes >> i & 1)
			show_runtime_json(json, process, i);
}

void show_process_json(const struct process *process)
{
	struct json json = json_event(stdout, "process");
	struct err err = { 0 };
	int r = listener_judge(process, &err);

	json_number(&json, "pid", (uint64_t)process->pid);
	process_put_json(&json, process);
	json_number(&json, "parent", (uint64_t)process->status.parent);
	json_number(&json, "tracer", (uint64_t)process->status.tracer);
	json_text(&json, "program", program_names[process->program]);
	json_text(&json, "seccomp", seccomp_name(process->status.seccomp));
	json_bool(&json, "dumpable", !process->is_private);
	show_libraries_json(&json, process);
	json_bool(&json, "attachable", r == 0);
	json_number(&json, "exit", r ? err.exit : EXIT_DONE);
	json_err(&json, &err);
	json_object_end(&json);
}

void show_process_facts(const struct process *process)
{
	const struct namespaces *namespaces = &process->namespaces;
	char command[256], libc[64], runtimes[64];

	print(stdout, "process %d (%s): %s\n", process->pid, process->status.name,
	      show_command(process, command, sizeof(command)));
	print(stdout, "  user        %s (uid %u)%s\n", process->user, process->status.euid,
	      process->is_private ? ", not dumpable" : "");
	print(stdout, "  program     %s, %s\n", program_names[process->program],
	      process->executable[0] ? process->executable : "executable not visible");
	print(stdout, "  C library   %s%s%s\n", libc_describe(&process->libc, libc, sizeof(libc)),
	      process->libc.path[0] ? ", " : "", process->libc.path);
	runtimes_describe(process->runtimes, runtimes, sizeof(runtimes));
	print(stdout, "  GPU         %s\n", runtimes[0] ? runtimes : "none");
	show_runtimes(process);
	print(stdout, "  namespaces  mnt %s, pid %s, user %s, net %s",
	      sameness_names[namespaces->mnt], sameness_names[namespaces->pid],
	      sameness_names[namespaces->user], sameness_names[namespaces->net]);
	if (process->status.pid_namespaces > 1)
		print(stdout, "; it calls itself %d", process->status.inner_pid);
	print(stdout, "\n  seccomp     %s\n", seccomp_name(process->status.seccomp));
}

static void show_thread_json(const struct thread *thread)
{
	struct json json = json_event(stdout, "thread");
	const char state[] = { thread->state, '\0' };

	json_number(&json, "tid", (uint64_t)thread->tid);
	json_text(&json, "name", thread->name);
	json_text(&json, "state", state);
	json_number(&json, "cpu_ns", thread->cpu_ns);
	json_text(&json, "wait_channel", thread->wait_channel);
	json_object_end(&json);
}

int show_threads(const struct process *process, bool is_json, struct err *err)
{
	CLEANUP(threads_done) struct threads threads = { 0 };
	int r = threads_read(process->pid, &threads, err);

	if (r < 0)
		return r;
	if (!is_json)
		print(stdout, "  threads     %zu\n\n%9s %-9s %9s  %-16s %s\n", threads.count, "TID",
		      "STATE", "CPU s", "NAME", "WAITS IN");
	for (size_t i = 0; i < threads.count; i++) {
		const struct thread *thread = &threads.items[i];

		if (is_json)
			show_thread_json(thread);
		else
			print(stdout, "%9d %-9s %9.2f  %-16s %s\n", thread->tid,
			      thread_state_name(thread->state), (double)thread->cpu_ns / 1e9,
			      thread->name, thread->wait_channel);
	}
	return 0;
}
