/*
 * limpet dump: the present stack of every thread of a process, once.  Threads with equal stacks are
 * shown once; the frames by which every system call enters the kernel are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "host/cli/common/operand.h"
#include "host/cli/common/sample_options.h"
#include "host/cli/common/selection.h"
#include "host/core/cleanup.h"
#include "host/core/text/path.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/samples/samples.h"
#include "host/process/jvm/jvm.h"
#include "host/recorder/dump/dump.h"
#include "host/sampling/sampler.h"

#define TITLES_MAX 8u /* threads of a group that are named */

struct dump_values {
	bool is_json, no_lines, user_only, java_names, debuginfod;
	bool all; /* nothing is folded */
	struct shown_values shown;
	const char *pid, *sampler;
};

#define FIELD(name) offsetof(struct dump_values, name)

static const struct option_desc dump_options[] = {
	OPERAND_OPTION(FIELD(pid)),
	{ 0, "no-lines", NULL, "show names only: no files, lines or inlined functions",
	  FIELD(no_lines) },
	{ 0, "user", NULL, "leave out frames of the kernel", FIELD(user_only) },
	{ 0, "java-names", NULL, "ask a Java virtual machine for the names of its code (JDK 17)",
	  FIELD(java_names) },
	{ 0, "debuginfod", NULL, "ask the servers of DEBUGINFOD_URLS for debug files",
	  FIELD(debuginfod) },
	{ 0, "sampler", "NAME", "use only this sampler: bpf or read", FIELD(sampler), OPTION_TEXT },
	{ 0, "way", "NAME", NULL, FIELD(sampler), OPTION_TEXT },
	ONLY_OPTION(FIELD(shown)),
	{ 'a', "all", NULL, "show each thread and each frame, also where they are equal",
	  FIELD(all) },
	FULL_PATHS_OPTION(FIELD(shown)),
	{ 'j', "json", NULL, "print one JSON object per line", FIELD(is_json) },
	{ 0 },
};

/* The kernel's entry functions, without suffixes of compilers. */
static const char *const entries[] = {
	"entry_SYSCALL_64_after_hwframe",
	"do_syscall_64",
	"x64_sys_call",
	"el0t_64_sync",
	"el0t_64_sync_handler",
	"el0_svc",
	"do_el0_svc",
	"el0_svc_common",
	"invoke_syscall",
};

static bool is_entry(const struct dumped_frame *frame)
{
	const char *name = frame->names[0].function;
	size_t length = strcspn(name, ".");

	for (size_t i = 0; !strcmp(frame->module, "[kernel]") && i < ARRAY_SIZE(entries); i++)
		if (strlen(entries[i]) == length && !strncmp(entries[i], name, length))
			return true;
	return false;
}

static void print_frame(const struct dumped_frame *frame, const struct dump_values *values,
			unsigned *number)
{
	for (uint32_t i = 0; i < frame->name_count; i++) {
		const struct recorded_name *name = &frame->names[i];

		print(stdout, "  #%-3u %" PRINAME, (*number)++, name->function);
		if (!strstr(name->function, "+0x"))
			print(stdout, " (%" PRINAME ")",
			      values->shown.full_paths ? frame->path : frame->module);
		if (name->file[0])
			print(stdout, " at %" PRINAME ":%u",
			      values->shown.full_paths ? name->file : path_base_name(name->file),
			      name->line);
		print(stdout, "%s\n", i + 1 < frame->name_count ? ", inlined" : "");
	}
}

static void print_frames(const struct dumped_thread *thread, const struct dump_values *values)
{
	unsigned number = 0;

	for (size_t i = 0; i < thread->frame_count; i++) {
		size_t entry = 0; /* frames from here on that are one entry into the kernel */

		while (!values->all && i + entry < thread->frame_count &&
		       is_entry(&thread->frames[i + entry]))
			entry++;
		if (entry < 2) {
			print_frame(&thread->frames[i], values, &number);
			continue;
		}
		print(stdout, "  #%-3u system call ([kernel], %zu frames)\n", number, entry);
		number += (unsigned)entry;
		i += entry - 1;
	}
}

static void print_end(const struct dumped_thread *thread, const char *sampler)
{
	if (thread->has_ended)
		print(stdout, "  no stack: the thread has ended meanwhile\n");
	else if (!thread->has_stack)
		print(stdout,
		      "  no stack: the thread was running and could not be sampled, or may not be read\n");
	else if (thread->end != STACK_COMPLETE)
		print(stdout, "  INCOMPLETE: %s\n  fix: %s\n", stack_end_name(thread->end),
		      stack_end_fix(thread->end, sampler, false));
	else if (!thread->frame_count)
		print(stdout, "  no frame of the language of --only\n");
	if (thread->is_guessed)
		print(stdout, "  GUESSED: a frame pointer was not known and is guessed\n");
}

static void print_title(const struct dumped_thread *thread)
{
	print(stdout, "%d (%" PRINAME ")", thread->facts.tid, thread->name);
}

static void print_state(const struct dumped_thread *thread, bool shows_object)
{
	print(stdout, ": %s", thread_state_name(thread->facts.state));
	if (thread->has_gil)
		print(stdout, ", holds the GIL");
	if (thread->waiting.call[0])
		print(stdout, ", in %s%s%" PRINAME, thread->waiting.call,
		      shows_object && thread->waiting.object[0] ? ": " : "",
		      shows_object ? thread->waiting.object : "");
	else if (thread->facts.wait_channel[0])
		print(stdout, ", in the kernel's %" PRINAME, thread->facts.wait_channel);
}

/* Threads that wait for a lock of another thread are alike only if it is the same lock. */
static bool is_alike(const struct dumped_thread *one, const struct dumped_thread *other)
{
	bool is_same = one->has_stack && other->has_stack && one->frame_count &&
		       one->frame_count == other->frame_count &&
		       one->facts.state == other->facts.state && one->end == other->end &&
		       one->is_guessed == other->is_guessed && one->has_gil == other->has_gil &&
		       one->waiting.lock == other->waiting.lock &&
		       !strcmp(one->waiting.call, other->waiting.call);

	for (size_t i = 0; is_same && i < one->frame_count; i++)
		is_same = one->recorded[i].code == other->recorded[i].code &&
			  one->recorded[i].address == other->recorded[i].address;
	return is_same;
}

static void print_group(const struct dumped_thread *const *group, size_t count, const char *sampler,
			const struct dump_values *values)
{
	bool is_same_object = true;
	uint64_t cpu_ns = 0;

	if (count == 1)
		print(stdout, "\nthread ");
	else
		print(stdout, "\n%zu threads with the same stack: ", count);
	for (size_t i = 0; i < count; i++) {
		is_same_object &= !strcmp(group[i]->waiting.object, group[0]->waiting.object);
		cpu_ns += group[i]->facts.cpu_ns;
		if (i >= TITLES_MAX)
			continue;
		print(stdout, "%s", i ? ", " : "");
		print_title(group[i]);
	}
	if (count > TITLES_MAX)
		print(stdout, ", and %zu more (--all)", count - TITLES_MAX);
	print_state(group[0], is_same_object);
	print(stdout, "; CPU time %.3f s%s\n", (double)cpu_ns / 1e9, count > 1 ? " in all" : "");
	print_frames(group[0], values);
	print_end(group[0], sampler);
}

static void print_threads(const struct dump *dump, const struct dump_values *values)
{
	const struct dumped_thread **group = calloc(dump->count + 1, sizeof(void *));

	for (size_t i = 0; group && i < dump->count; i++) {
		size_t count = 0;
		bool was_shown = false;

		for (size_t k = 0; !values->all && k < i && !was_shown; k++)
			was_shown = is_alike(&dump->threads[k], &dump->threads[i]);
		if (was_shown)
			continue;
		group[count++] = &dump->threads[i];
		for (size_t k = i + 1; !values->all && k < dump->count; k++)
			if (is_alike(&dump->threads[i], &dump->threads[k]))
				group[count++] = &dump->threads[k];
		print_group(group, count, dump->sampler, values);
	}
	free(group);
}

static void print_deadlock(const struct dump *dump)
{
	const struct deadlock *deadlock = &dump->deadlock;

	for (size_t i = 0; i < deadlock->count; i++) {
		const struct deadlocked *one = &deadlock->items[i],
					*next = &deadlock->items[(i + 1) % deadlock->count];

		print(stdout, i ? "  thread "
				: "DEADLOCK: these threads wait for each other:\n"
				  "  thread ");
		print_title(&dump->threads[one->thread]);
		print(stdout, " waits for the mutex at 0x%lx, held by ", one->lock);
		print_title(&dump->threads[next->thread]);
		print(stdout, "\n");
	}
}

static void dump_print(pid_t pid, const struct dump *dump, const struct dump_values *values)
{
	print(stdout, "process %d: %zu thread%s, sampler %s\n", pid, dump->count,
	      plural(dump->count), dump->sampler);
	print_prefixed(stderr, "note: ", dump->reasons);
	print_deadlock(dump);
	print_threads(dump, values);
}

static void write_frame(struct json *json, const struct dumped_frame *frame)
{
	char address[32];

	snprintf(address, sizeof(address), "0x%lx", frame->address);
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

static void write_thread(const struct dumped_thread *thread, const char *sampler)
{
	struct json json = json_event(stdout, "thread");
	const char state[] = { thread->facts.state, '\0' };

	json_signed(&json, "tid", thread->facts.tid);
	json_text(&json, "name", thread->name);
	json_bool(&json, "has_gil", thread->has_gil);
	json_text(&json, "state", state);
	json_text(&json, "state_name", thread_state_name(thread->facts.state));
	json_number(&json, "cpu_ns", thread->facts.cpu_ns);
	json_text(&json, "call", thread->waiting.call);
	json_text(&json, "waits_for", thread->waiting.object);
	json_text(&json, "wait_channel", thread->facts.wait_channel);
	json_bool(&json, "ended", thread->has_ended);
	json_bool(&json, "has_stack", thread->has_stack);
	json_bool(&json, "complete", thread->has_stack && thread->end == STACK_COMPLETE);
	json_text(&json, "end", stack_end_key(thread->end));
	json_text(&json, "end_fix",
		  thread->has_stack ? stack_end_fix(thread->end, sampler, false) : "");
	json_bool(&json, "guessed", thread->is_guessed);
	json_list(&json, "frames");
	for (size_t i = 0; i < thread->frame_count; i++)
		write_frame(&json, &thread->frames[i]);
	json_list_end(&json);
	json_object_end(&json);
}

static void write_deadlock(const struct dump *dump)
{
	const struct deadlock *deadlock = &dump->deadlock;
	struct json json = json_event(stdout, "deadlock");
	char lock[32];

	json_list(&json, "threads");
	for (size_t i = 0; i < deadlock->count; i++) {
		const struct dumped_thread *thread = &dump->threads[deadlock->items[i].thread];

		snprintf(lock, sizeof(lock), "0x%lx", deadlock->items[i].lock);
		json_object(&json, NULL);
		json_signed(&json, "tid", thread->facts.tid);
		json_text(&json, "name", thread->name);
		json_text(&json, "waits_for", lock);
		json_object_end(&json);
	}
	json_list_end(&json);
	json_object_end(&json);
}

static void write_dump(pid_t pid, const struct dump *dump)
{
	struct json json;

	for (size_t i = 0; i < dump->count; i++)
		write_thread(&dump->threads[i], dump->sampler);
	if (dump->deadlock.count)
		write_deadlock(dump);
	json = json_event(stdout, "process");
	json_signed(&json, "pid", pid);
	json_number(&json, "threads", dump->count);
	json_text(&json, "sampler", dump->sampler);
	json_text(&json, "no_better_sampler", dump->reasons);
	/* The names of 0.1.0. */
	json_text(&json, "way", dump->sampler);
	json_text(&json, "no_better_way", dump->reasons);
	json_object_end(&json);
}

static int dump_run(const struct command_line *line, struct err *err)
{
	CLEANUP(dump_free) struct dump *dump = NULL;
	const struct dump_values *values = line->values;
	struct debuginfod debuginfod = { 0 };
	struct jvm_trace trace = { 0 };
	struct dump_options options = { .wants_lines = !values->no_lines,
					.kernel_frames = !values->user_only,
					.sampler = values->sampler };
	pid_t pid;
	int r = only_find(&values->shown, &options.language, err);

	if (!r)
		r = operand_process(line, values->pid, &pid, err);
	/* The JVM and the servers answer before the dump. */
	if (!r && values->java_names)
		r = jvm_write_names(pid, /* start_tick */ 0, &trace, err);
	if (!r && values->debuginfod)
		r = debuginfod_enable(&debuginfod, err);
	if (!r)
		r = dump_make(&dump, pid, &options, err);
	if (dump && values->is_json)
		write_dump(pid, dump);
	else if (dump)
		dump_print(pid, dump, values);
	debuginfod_report(&debuginfod);
	jvm_trace_end(&trace);
	return r;
}

const struct command command_dump = {
	.name = "dump",
	.summary = "show the stacks of all threads of a process, once",
	.usage = "PID [--user] [--only LANGUAGE] [--no-lines] [--all] [--full-paths] [--json]",
	.options = dump_options,
	.values_size = sizeof(struct dump_values),
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
