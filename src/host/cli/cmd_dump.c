/*
 * limpet dump: what every thread of a process is doing now, once.
 */
#include <inttypes.h>
#include <string.h>

#include "host/cli/command.h"
#include "host/cli/operand.h"
#include "host/cli/printable.h"
#include "host/cli/record_samples.h"
#include "host/cli/report.h"
#include "host/core/cleanup.h"
#include "host/core/json.h"
#include "host/core/print.h"
#include "host/model/samples.h"
#include "host/process/jvm.h"
#include "host/recorder/dump.h"
#include "host/sampling/sampler.h"

struct dump_values {
	bool is_json, no_lines, user_only, java_names, debuginfod, full_paths;
	const char *pid, *way;
};

#define FIELD(name) offsetof(struct dump_values, name)

static const struct option_desc dump_options[] = {
	OPERAND_OPTION(FIELD(pid)),
	{ 0, "no-lines", NULL, "names only: no files, lines and inlined functions", OPTION_FLAG,
	  FIELD(no_lines) },
	{ 0, "user", NULL, "no frames of the kernel", OPTION_FLAG, FIELD(user_only) },
	{ 0, "java-names", NULL, "ask a Java virtual machine for the names of its code (JDK 17)",
	  OPTION_FLAG, FIELD(java_names) },
	{ 0, "debuginfod", NULL, "ask the servers of DEBUGINFOD_URLS for debug files", OPTION_FLAG,
	  FIELD(debuginfod) },
	{ 0, "way", "NAME", "only this way: bpf or read", OPTION_TEXT, FIELD(way) },
	{ 0, "full-paths", NULL, "files and modules with their folders", OPTION_FLAG,
	  FIELD(full_paths) },
	{ 'j', "json", NULL, "one JSON object per line", OPTION_FLAG, FIELD(is_json) },
	{ 0 },
};

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void print_frame(const struct dumped_frame *frame, bool full_paths, unsigned *number)
{
	char text[NAME_MAX_SHOWN];

	for (uint32_t i = 0; i < frame->name_count; i++) {
		const struct recorded_name *name = &frame->names[i];

		print(stdout, "  #%-3u %s", (*number)++, printable(name->function, text));
		if (!strstr(name->function, "+0x"))
			print(stdout, " (%s)",
			      printable(full_paths ? frame->path : frame->module, text));
		if (name->file[0])
			print(stdout, " at %s:%u",
			      printable(full_paths ? name->file : file_name(name->file), text),
			      name->line);
		print(stdout, "%s\n", i + 1 < frame->name_count ? ", inlined" : "");
	}
}

static void print_thread(const struct dumped_thread *thread, bool full_paths)
{
	char text[NAME_MAX_SHOWN], object[NAME_MAX_SHOWN];
	unsigned number = 0;

	print(stdout, "\nthread %d (%s): %s", thread->facts.tid,
	      printable(thread->facts.name, text), thread_state_name(thread->facts.state));
	if (thread->waiting.call[0])
		print(stdout, ", in %s%s%s", thread->waiting.call,
		      thread->waiting.object[0] ? ": " : "",
		      printable(thread->waiting.object, object));
	else if (thread->facts.wait_channel[0])
		print(stdout, ", in the kernel's %s",
		      printable(thread->facts.wait_channel, object));
	print(stdout, "; %.3f s of processor time\n", (double)thread->facts.cpu_ns / 1e9);
	for (size_t i = 0; i < thread->frame_count; i++)
		print_frame(&thread->frames[i], full_paths, &number);
	if (!thread->has_stack)
		print(stdout, "  no stack: it ran and could not be caught, or may not be read\n");
	else if (thread->end != STACK_COMPLETE)
		print(stdout, "  INCOMPLETE: %s; fix: %s\n", stack_end_name(thread->end),
		      stack_end_fix(thread->end));
	if (thread->is_guessed)
		print(stdout, "  GUESSED: a frame pointer that nothing told was guessed\n");
}

static void print_dump(pid_t pid, const struct dump *dump, bool full_paths)
{
	print(stdout, "process %d: %zu thread%s, by %s\n", pid, dump->count,
	      dump->count == 1 ? "" : "s", dump->way);
	for (const char *at = dump->reasons; *at; at += strcspn(at, "\n"), at += *at == '\n')
		print(stderr, "note: %.*s\n", (int)strcspn(at, "\n"), at);
	for (size_t i = 0; i < dump->count; i++)
		print_thread(&dump->threads[i], full_paths);
}

static void write_frame(struct json *json, const struct dumped_frame *frame)
{
	char address[32];

	snprintf(address, sizeof(address), "0x%" PRIx64, frame->address);
	for (uint32_t i = 0; i < frame->name_count; i++) {
		json_object(json, NULL);
		json_text(json, "function", frame->names[i].function);
		json_text(json, "module", frame->module);
		json_text(json, "address", address);
		json_text(json, "file", frame->names[i].file);
		json_number(json, "line", frame->names[i].line);
		json_bool(json, "inlined", i + 1 < frame->name_count);
		json_object_end(json);
	}
}

static void write_thread(struct json *json, const struct dumped_thread *thread)
{
	const char state[] = { thread->facts.state, '\0' };

	json_object(json, NULL);
	json_text(json, "event", "thread");
	json_signed(json, "tid", thread->facts.tid);
	json_text(json, "name", thread->facts.name);
	json_text(json, "state", state);
	json_text(json, "state_name", thread_state_name(thread->facts.state));
	json_number(json, "cpu_ns", thread->facts.cpu_ns);
	json_text(json, "call", thread->waiting.call);
	json_text(json, "waits_for", thread->waiting.object);
	json_text(json, "wait_channel", thread->facts.wait_channel);
	json_bool(json, "has_stack", thread->has_stack);
	json_bool(json, "complete", thread->has_stack && thread->end == STACK_COMPLETE);
	json_text(json, "end", stack_end_key(thread->end));
	json_text(json, "end_fix", thread->has_stack ? stack_end_fix(thread->end) : "");
	json_bool(json, "guessed", thread->is_guessed);
	json_list(json, "frames");
	for (size_t i = 0; i < thread->frame_count; i++)
		write_frame(json, &thread->frames[i]);
	json_list_end(json);
	json_object_end(json);
}

static void write_dump(pid_t pid, const struct dump *dump)
{
	struct json json = { .out = stdout };

	for (size_t i = 0; i < dump->count; i++)
		write_thread(&json, &dump->threads[i]);
	json_object(&json, NULL);
	json_text(&json, "event", "process");
	json_signed(&json, "pid", pid);
	json_number(&json, "threads", dump->count);
	json_text(&json, "way", dump->way);
	json_text(&json, "no_better_way", dump->reasons);
	json_object_end(&json);
}

/* What others are asked for, before. */
static int prepare(const struct dump_values *values, pid_t pid, struct jvm_trace *trace,
		   struct debuginfod *debuginfod, struct err *err)
{
	int r = values->java_names ? jvm_write_names(pid, /* start_tick */ 0, trace, err) : 0;

	return !r && values->debuginfod ? samples_ask(debuginfod, err) : r;
}

static enum exit_code dump_run(char **argv)
{
	CLEANUP(dump_free) struct dump *dump = NULL;
	struct dump_values values = { 0 };
	struct err err = { 0 };
	int operands = options_parse(dump_options, argv, &values, &err);
	struct debuginfod debuginfod = { 0 };
	struct jvm_trace trace = { 0 };
	struct dump_options options;
	pid_t pid;

	if (operands >= 0 && !operand_process(values.pid, argv, operands, &pid, &err) &&
	    !prepare(&values, pid, &trace, &debuginfod, &err)) {
		options = (struct dump_options){ .wants_lines = !values.no_lines,
						 .kernel_frames = !values.user_only,
						 .way = values.way };
		(void)!dump_take(&dump, pid, &options, &err);
		if (dump && values.is_json)
			write_dump(pid, dump);
		else if (dump)
			print_dump(pid, dump, values.full_paths);
		samples_tell_asked(&debuginfod);
	}
	jvm_trace_end(&trace);
	return report_end("dump", values.is_json, &err);
}

const struct command command_dump = {
	.name = "dump",
	.summary = "the stacks of all threads of a process, now",
	.usage = "PID [--user] [--no-lines] [--full-paths] [--json]",
	.options = dump_options,
	.run = dump_run,
	.notes =
		"No thread is stopped.  Also for processes that hang.\n"
		"\n"
		"examples:\n"
		"  limpet dump 4711\n"
		"  limpet dump 4711 --json | jq -r 'select(.event==\"thread\").frames[0].function'\n",
};
