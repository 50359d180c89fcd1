/*
 * Prints processes as text and as JSON.
 */
#include "host/cli/show.h"

#include "host/attach/listener.h"
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

static const char *const seccomp_names[] = { "off", "strict", "filter" };

static const char *seccomp_name(int mode)
{
	return mode >= 0 && mode < (int)ARRAY_SIZE(seccomp_names) ? seccomp_names[mode] : "unknown";
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

static void show_libc_json(struct json *json, const struct libc *libc)
{
	char version[32];

	snprintf(version, sizeof(version), "%u.%u.%u", libc->major, libc->minor, libc->patch);
	json_object(json, "libc");
	json_text(json, "flavour", libc_flavour_name(libc->flavour));
	json_text(json, "version", libc->major ? version : "");
	json_text(json, "path", libc->path);
	json_number(json, "base", libc->base);
	json_object_end(json);
}

static void show_namespaces_json(struct json *json, const struct process *process)
{
	const struct namespaces *namespaces = &process->namespaces;

	json_object(json, "namespaces");
	json_text(json, "mnt", sameness_names[namespaces->mnt]);
	json_text(json, "pid", sameness_names[namespaces->pid]);
	json_text(json, "user", sameness_names[namespaces->user]);
	json_text(json, "net", sameness_names[namespaces->net]);
	json_number(json, "inner_pid", (uint64_t)process->status.inner_pid);
	json_object_end(json);
}

static void show_runtimes_json(struct json *json, unsigned runtimes)
{
	json_list(json, "runtimes");
	for (unsigned i = 0; i < RUNTIME_COUNT; i++)
		if (runtimes >> i & 1)
			json_text(json, NULL, runtime_name(i));
	json_list_end(json);
}

/* Paths of libraries, by runtime. */
static void show_libraries_json(struct json *json, const struct process *process)
{
	const struct runtime_library *it;

	for (unsigned i = 0; i < RUNTIME_COUNT; i++) {
		bool is_open = false;

		for (it = runtime_libraries; it->stem && process->runtimes >> i & 1; it++) {
			const char *path;

			if (it->runtime != i || !it->key)
				continue;
			if (!is_open)
				json_object(json, runtime_name(i));
			is_open = true;
			path = runtime_library_path(&process->maps, it);
			json_text(json, it->key, path ? path : "");
		}
		if (is_open)
			json_object_end(json);
	}
}

static void show_verdict_json(struct json *json, const struct process *process)
{
	struct err err = { 0 };
	int r = listener_judge(process, &err);

	json_bool(json, "attachable", r == 0);
	json_number(json, "exit", r ? err.exit : EXIT_DONE);
	json_text(json, "error", err.what);
	json_text(json, "why", err.why);
	json_text(json, "fix", err.fix);
}

void show_process_json(struct json *json, const struct process *process)
{
	json_object(json, NULL);
	json_text(json, "event", "process");
	json_number(json, "pid", (uint64_t)process->pid);
	process_put_json(json, process);
	json_number(json, "parent", (uint64_t)process->status.parent);
	json_number(json, "tracer", (uint64_t)process->status.tracer);
	json_text(json, "program", program_names[process->program]);
	json_text(json, "seccomp", seccomp_name(process->status.seccomp));
	json_bool(json, "dumpable", !process->is_private);
	show_libc_json(json, &process->libc);
	show_namespaces_json(json, process);
	show_runtimes_json(json, process->runtimes);
	show_libraries_json(json, process);
	show_verdict_json(json, process);
}

static void show_namespaces(const struct process *process, FILE *out)
{
	const struct namespaces *namespaces = &process->namespaces;

	print(out, "  namespaces  mnt %s, pid %s, user %s, net %s", sameness_names[namespaces->mnt],
	      sameness_names[namespaces->pid], sameness_names[namespaces->user],
	      sameness_names[namespaces->net]);
	if (process->status.pid_namespaces > 1)
		print(out, "; it calls itself %d", (int)process->status.inner_pid);
	fputc('\n', out);
}

/* Versions of libraries, as far as they are known before a trace. */
static void show_libraries(const struct process *process, FILE *out)
{
	const char *title;
	int last = -1;

	for (const struct runtime_library *it = runtime_libraries; it->stem; it++) {
		const char *path = runtime_library_path(&process->maps, it);

		if (!it->label || !(process->runtimes >> it->runtime & 1))
			continue;
		title = last == (int)it->runtime ? "" : runtime_title(it->runtime);
		last = (int)it->runtime;
		if (path)
			print(out, "  %-11s %s %s\n", title, it->label, path);
		else
			print(out, "  %-11s %s\n", title, it->absent);
	}
}

void show_process_facts(const struct process *process, FILE *out)
{
	char command[256], libc[64], runtimes[64];

	print(out, "process %d (%s): %s\n", (int)process->pid, process->status.name,
	      show_command(process, command, sizeof(command)));
	print(out, "  user        %s (uid %u)%s\n", process->user, process->status.euid,
	      process->is_private ? ", not dumpable" : "");
	print(out, "  program     %s, %s\n", program_names[process->program],
	      process->executable[0] ? process->executable : "executable not visible");
	print(out, "  C library   %s%s%s\n", libc_describe(&process->libc, libc, sizeof(libc)),
	      process->libc.path[0] ? ", " : "", process->libc.path);
	runtimes_describe(process->runtimes, runtimes, sizeof(runtimes));
	print(out, "  GPU         %s\n", runtimes[0] ? runtimes : "none");
	show_libraries(process, out);
	show_namespaces(process, out);
	print(out, "  seccomp     %s\n", seccomp_name(process->status.seccomp));
}

static void show_thread_json(const struct thread *thread, FILE *out)
{
	struct json json = { .out = out };
	const char state[] = { thread->state, '\0' };

	json_object(&json, NULL);
	json_text(&json, "event", "thread");
	json_number(&json, "tid", (uint64_t)thread->tid);
	json_text(&json, "name", thread->name);
	json_text(&json, "state", state);
	json_number(&json, "cpu_ns", thread->cpu_ns);
	json_text(&json, "wait_channel", thread->wait_channel);
	json_object_end(&json);
}

int show_threads(const struct process *process, bool is_json, FILE *out, struct err *err)
{
	CLEANUP(threads_done) struct threads threads = { 0 };
	int r = threads_read(process->pid, &threads, err);

	if (r < 0)
		return r;
	if (!is_json)
		print(out, "  threads     %zu\n\n%9s %-9s %9s  %-16s %s\n", threads.count, "TID",
		      "STATE", "CPU s", "NAME", "WAITS IN");
	for (size_t i = 0; i < threads.count; i++) {
		const struct thread *thread = &threads.items[i];

		if (is_json)
			show_thread_json(thread, out);
		else
			print(out, "%9d %-9s %9.2f  %-16s %s\n", (int)thread->tid,
			      thread_state_name(thread->state), (double)thread->cpu_ns / 1e9,
			      thread->name, thread->wait_channel);
	}
	return 0;
}
