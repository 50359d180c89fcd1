/*
 * Answers about the machine: limpet's version, processes, rights, formats.
 */
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/path.h"
#include "host/export/exporter.h"
#include "host/ui/answers/handlers.h"
#include "host/ui/session/verdict.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* How programs of a language are known: by their executable, or by a library. */
static const struct {
	const char *name, *executable, *library;
} languages[] = {
	{ "python", "python", "libpython" }, { "java", "java", "libjvm.so" },
	{ "node", "node", "libnode.so" },    { "ruby", "ruby", "libruby" },
	{ "php", "php", "libphp" },          { "perl", "perl", "libperl" },
};

static bool has_library(const struct process *process, const char *name)
{
	for (size_t i = 0; i < process->maps.count; i++) {
		const char *path = process->maps.items[i].path;

		if (path && strncmp(path_base_name(path), name, strlen(name)) == 0)
			return true;
	}
	return false;
}

static const char *language_of(const struct process *process)
{
	const char *executable = path_base_name(process->executable);

	for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
		if (strncmp(executable, languages[i].executable, strlen(languages[i].executable)) ==
			    0 ||
		    has_library(process, languages[i].library))
			return languages[i].name;
	return "";
}

static void runtimes_write(struct json *json, unsigned runtimes)
{
	json_list(json, "runtimes");
	for (unsigned i = 0; i < RUNTIME_COUNT; i++)
		if (runtimes >> i & 1)
			json_text(json, NULL, runtime_name(i));
	json_list_end(json);
	json_list(json, "traces");
	for (const struct runtime_trace *it = runtime_traces; it->trace; it++) {
		if (!(runtimes >> it->runtime & 1))
			continue;
		json_list(json, NULL);
		json_text(json, NULL, it->trace);
		json_text(json, NULL, it->title);
		json_list_end(json);
	}
	json_list_end(json);
}

static void process_write(struct answer *self, const struct process *process, const char *key)
{
	const struct sessions *sessions = &self->ui->sessions;
	struct json *json = self->json;
	uint32_t session = 0; /* that samples it now */

	for (unsigned i = 0; !session && i < sessions->count; i++)
		if (sessions->items[i]->state == UI_RECORDING &&
		    sessions->items[i]->wish.pid == process->pid)
			session = sessions->items[i]->id;
	json_object(json, key);
	json_signed(json, "pid", process->pid);
	json_number(json, "start", process->stat.start_tick);
	process_put_json(json, process);
	json_signed(json, "parent", process->status.parent);
	runtimes_write(json, process->runtimes);
	json_text(json, "language", language_of(process));
	verdict_write(json, process);
	json_bool(json, "sampled", session);
	json_number(json, "session", session);
	json_object_end(json);
}

static void process_visit(const struct process *process, void *context)
{
	if (process->pid != process->rights.pid && !process->stat.is_kernel_thread)
		process_write(context, process, NULL);
}

int answer_processes(struct answer *self)
{
	CLEANUP(viewer_done) struct viewer viewer = { 0 };
	int r;

	viewer_init(&viewer);
	json_number(self->json, "time_ns", boot_now_ns());
	json_list(self->json, "processes");
	r = process_each(&viewer, process_visit, self, self->err);
	json_list_end(self->json);
	return r;
}

int answer_doctor(struct answer *self)
{
	CLEANUP(process_done) struct process process = { 0 };
	pid_t pid = self->command->wish.pid;
	int r = pid ? process_read(pid, &process, self->err) : 0;

	if (r)
		return r;
	if (pid)
		process_write(self, &process, "process");
	else
		json_raw(self->json, "process", "null");
	self->ui->options->examine(self->json, pid);
	return 0;
}

int answer_about(struct answer *self)
{
	const struct ui *ui = self->ui;
	struct json *json = self->json;
	struct utsname machine = { 0 };
	struct users users;
	char user[64];

	uname(&machine);
	users_init(&users);
	users_name(&users, ui->options->user, user, sizeof(user));
	users_done(&users);
	json_text(json, "version", ui->options->version);
	json_text(json, "user", user);
	json_text(json, "host", machine.nodename);
	json_text(json, "kernel", machine.release);
	json_number(json, "uid", ui->options->user);
	json_number(json, "pid", (uint64_t)getpid());
	json_bool(json, "root", geteuid() == 0);
	json_text(json, "ssh", ui->ssh);
	json_object(json, "limits");
	json_number(json, "sessions", SESSIONS_MAX);
	json_object_end(json);
	json_list(json, "open");
	for (unsigned i = 0; i < ui->sessions.count; i++) {
		uint32_t id = ui->sessions.items[i]->id;

		if (ui->shared ? id == ui->shared : id <= ui->opened)
			json_number(json, NULL, id);
	}
	json_list_end(json);
	json_bool(json, "share", ui->shared);
	return 0;
}

/* Formats of one file, which a browser can save, that can hold something of the session: of a live
 * one, its samples. */
int answer_formats(struct answer *self)
{
	struct json *json = self->json;
	unsigned content = ui_session_is_live(self->session)
				   ? HOLDS_SAMPLES
				   : exporter_content(self->session->store.model);

	json_list(json, "formats");
	for (const struct exporter *exporter = exporters; exporter->name; exporter++) {
		if (!exporter->format->write || !(exporter->holds & content))
			continue;
		json_object(json, NULL);
		json_text(json, "name", exporter->name);
		json_text(json, "extension", exporter->extensions[0]);
		json_text(json, "summary", exporter->help);
		json_object_end(json);
	}
	json_list_end(json);
	return 0;
}
