/*
 * limpet dump: the present stack of every thread of a process, once.
 */
#include <inttypes.h>
#include <string.h>

#include "host/cli/command.h"
#include "host/cli/dump/text.h"
#include "host/cli/operand.h"
#include "host/cli/record/samples.h"
#include "host/cli/report.h"
#include "host/cli/view.h"
#include "host/core/cleanup.h"
#include "host/core/text/json.h"
#include "host/model/samples/samples.h"
#include "host/process/jvm/jvm.h"
#include "host/recorder/dump/dump.h"
#include "host/sampling/sampler.h"

struct dump_values {
	bool is_json, no_lines, user_only, java_names, debuginfod;
	struct dump_style style;
	struct shown_values shown;
	const char *pid, *sampler;
};

#define FIELD(name) offsetof(struct dump_values, name)

static const struct option_desc dump_options[] = {
	OPERAND_OPTION(FIELD(pid)),
	{ 0, "no-lines", NULL, "show names only: no files, lines or inlined functions", OPTION_FLAG,
	  FIELD(no_lines) },
	{ 0, "user", NULL, "leave out frames of the kernel", OPTION_FLAG, FIELD(user_only) },
	{ 0, "java-names", NULL, "ask a Java virtual machine for the names of its code (JDK 17)",
	  OPTION_FLAG, FIELD(java_names) },
	{ 0, "debuginfod", NULL, "ask the servers of DEBUGINFOD_URLS for debug files", OPTION_FLAG,
	  FIELD(debuginfod) },
	{ 0, "sampler", "NAME", "use only this sampler: bpf or read", OPTION_TEXT, FIELD(sampler) },
	{ 0, "way", "NAME", NULL, OPTION_TEXT, FIELD(sampler) },
	ONLY_OPTION(FIELD(shown)),
	{ 'a', "all", NULL, "show each thread and each frame, also where they are equal",
	  OPTION_FLAG, FIELD(style.all) },
	{ 0, "full-paths", NULL, "show files and modules with their folders", OPTION_FLAG,
	  FIELD(style.full_paths) },
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG, FIELD(is_json) },
	{ 0 },
};

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

static void write_thread(struct json *json, const struct dumped_thread *thread, const char *sampler)
{
	const char state[] = { thread->facts.state, '\0' };

	json_object(json, NULL);
	json_text(json, "event", "thread");
	json_signed(json, "tid", thread->facts.tid);
	json_text(json, "name", thread->name);
	json_bool(json, "has_gil", thread->has_gil);
	json_text(json, "state", state);
	json_text(json, "state_name", thread_state_name(thread->facts.state));
	json_number(json, "cpu_ns", thread->facts.cpu_ns);
	json_text(json, "call", thread->waiting.call);
	json_text(json, "waits_for", thread->waiting.object);
	json_text(json, "wait_channel", thread->facts.wait_channel);
	json_bool(json, "ended", thread->has_ended);
	json_bool(json, "has_stack", thread->has_stack);
	json_bool(json, "complete", thread->has_stack && thread->end == STACK_COMPLETE);
	json_text(json, "end", stack_end_key(thread->end));
	json_text(json, "end_fix",
		  thread->has_stack ? stack_end_fix(thread->end, sampler, false) : "");
	json_bool(json, "guessed", thread->is_guessed);
	json_list(json, "frames");
	for (size_t i = 0; i < thread->frame_count; i++)
		write_frame(json, &thread->frames[i]);
	json_list_end(json);
	json_object_end(json);
}

static void write_deadlock(struct json *json, const struct dump *dump)
{
	const struct deadlock *deadlock = &dump->deadlock;
	char lock[32];

	if (!deadlock->count)
		return;
	json_object(json, NULL);
	json_text(json, "event", "deadlock");
	json_list(json, "threads");
	for (size_t i = 0; i < deadlock->count; i++) {
		const struct dumped_thread *thread = &dump->threads[deadlock->items[i].thread];

		snprintf(lock, sizeof(lock), "0x%" PRIx64, deadlock->items[i].lock);
		json_object(json, NULL);
		json_signed(json, "tid", thread->facts.tid);
		json_text(json, "name", thread->name);
		json_text(json, "waits_for", lock);
		json_object_end(json);
	}
	json_list_end(json);
	json_object_end(json);
}

static void write_dump(pid_t pid, const struct dump *dump)
{
	struct json json = { .out = stdout };

	for (size_t i = 0; i < dump->count; i++)
		write_thread(&json, &dump->threads[i], dump->sampler);
	write_deadlock(&json, dump);
	json_object(&json, NULL);
	json_text(&json, "event", "process");
	json_signed(&json, "pid", pid);
	json_number(&json, "threads", dump->count);
	json_text(&json, "sampler", dump->sampler);
	json_text(&json, "no_better_sampler", dump->reasons);
	/* The names of 0.1.0. */
	json_text(&json, "way", dump->sampler);
	json_text(&json, "no_better_way", dump->reasons);
	json_object_end(&json);
}

/* Requests to a JVM and to servers, before. */
static int dump_prepare(const struct dump_values *values, pid_t pid, struct jvm_trace *trace,
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
	unsigned language;
	pid_t pid;

	if (operands >= 0 && !only_find(&values.shown, &language, &err) &&
	    !operand_process(values.pid, argv, operands, &pid, &err) &&
	    !dump_prepare(&values, pid, &trace, &debuginfod, &err)) {
		options = (struct dump_options){ .wants_lines = !values.no_lines,
						 .kernel_frames = !values.user_only,
						 .sampler = values.sampler,
						 .language = language };
		(void)!dump_take(&dump, pid, &options, &err);
		if (dump && values.is_json)
			write_dump(pid, dump);
		else if (dump)
			dump_print(pid, dump, &values.style);
		samples_tell_asked(&debuginfod);
	}
	jvm_trace_end(&trace);
	return report_end("dump", values.is_json, &err);
}

const struct command command_dump = {
	.name = "dump",
	.summary = "show the stacks of all threads of a process, once",
	.usage = "PID [--user] [--only LANGUAGE] [--no-lines] [--all] [--full-paths] [--json]",
	.options = dump_options,
	.run = dump_run,
	.notes =
		"No thread is stopped.  Also for processes that hang: threads that wait for each other's\n"
		"mutexes are shown first, as DEADLOCK.  Threads with equal stacks are shown once.\n"
		"\n"
		"examples:\n"
		"  limpet dump 4711\n"
		"  limpet dump shop.py --only python\n"
		"  limpet dump 4711 --json | jq -r 'select(.event==\"thread\").frames[0].function'\n",
};
