/*
 * Prints threads.  Threads with equal stacks are shown once; the frames by which every system call
 * enters the kernel are left out.
 */
#include "host/cli/dump/text.h"

#include "host/cli/printable.h"
#include "host/core/text/path.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/samples/samples.h"
#include "host/sampling/sampler.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TITLES_MAX 8u /* threads of a group that are named */

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

	if (strcmp(frame->module, "[kernel]"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		if (strlen(entries[i]) == length && !strncmp(entries[i], name, length))
			return true;
	return false;
}

static void print_frame(const struct dumped_frame *frame, const struct dump_style *style,
			unsigned *number)
{
	char text[NAME_MAX_SHOWN];

	for (uint32_t i = 0; i < frame->name_count; i++) {
		const struct recorded_name *name = &frame->names[i];

		print(stdout, "  #%-3u %s", (*number)++, printable(name->function, text));
		if (!strstr(name->function, "+0x"))
			print(stdout, " (%s)",
			      printable(style->full_paths ? frame->path : frame->module, text));
		if (name->file[0])
			print(stdout, " at %s:%u",
			      printable(style->full_paths ? name->file : path_base_name(name->file),
					text),
			      name->line);
		print(stdout, "%s\n", i + 1 < frame->name_count ? ", inlined" : "");
	}
}

/* How many of the frames from here on are one entry into the kernel. */
static size_t count_entry(const struct dumped_thread *thread, size_t first)
{
	size_t i = first;

	while (i < thread->frame_count && is_entry(&thread->frames[i]))
		i++;
	return i - first;
}

static void print_frames(const struct dumped_thread *thread, const struct dump_style *style)
{
	unsigned number = 0;

	for (size_t i = 0; i < thread->frame_count; i++) {
		size_t entry = style->all ? 0 : count_entry(thread, i);

		if (entry < 2) {
			print_frame(&thread->frames[i], style, &number);
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
		print(stdout, "  no stack: it ran and could not be caught, or may not be read\n");
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
	char text[NAME_MAX_SHOWN];

	print(stdout, "%d (%s)", thread->facts.tid, printable(thread->name, text));
}

static void print_state(const struct dumped_thread *thread, bool is_alone)
{
	char object[NAME_MAX_SHOWN];

	print(stdout, ": %s", thread_state_name(thread->facts.state));
	if (thread->has_gil)
		print(stdout, ", holds the GIL");
	if (thread->waiting.call[0])
		print(stdout, ", in %s%s%s", thread->waiting.call,
		      is_alone && thread->waiting.object[0] ? ": " : "",
		      is_alone ? printable(thread->waiting.object, object) : "");
	else if (thread->facts.wait_channel[0])
		print(stdout, ", in the kernel's %s",
		      printable(thread->facts.wait_channel, object));
}

static bool has_same_frames(const struct dumped_thread *one, const struct dumped_thread *other)
{
	if (one->frame_count != other->frame_count)
		return false;
	for (size_t i = 0; i < one->frame_count; i++)
		if (one->recorded[i].code != other->recorded[i].code ||
		    one->recorded[i].address != other->recorded[i].address)
			return false;
	return true;
}

/* Threads that wait for a lock of another thread are alike only if it is the same lock. */
static bool is_alike(const struct dumped_thread *one, const struct dumped_thread *other)
{
	return one->has_stack && other->has_stack && one->frame_count &&
	       one->facts.state == other->facts.state && one->end == other->end &&
	       one->is_guessed == other->is_guessed && one->has_gil == other->has_gil &&
	       one->waiting.lock == other->waiting.lock &&
	       !strcmp(one->waiting.call, other->waiting.call) && has_same_frames(one, other);
}

/* Whether all of them are about the same thing. */
static bool have_same_object(const struct dumped_thread *const *group, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (strcmp(group[i]->waiting.object, group[0]->waiting.object))
			return false;
	return true;
}

static void print_group(const struct dumped_thread *const *group, size_t count, const char *sampler,
			const struct dump_style *style)
{
	uint64_t cpu_ns = 0;

	if (count == 1)
		print(stdout, "\nthread ");
	else
		print(stdout, "\n%zu threads with the same stack: ", count);
	for (size_t i = 0; i < count; i++) {
		cpu_ns += group[i]->facts.cpu_ns;
		if (i >= TITLES_MAX)
			continue;
		print(stdout, "%s", i ? ", " : "");
		print_title(group[i]);
	}
	if (count > TITLES_MAX)
		print(stdout, ", and %zu more (--all)", count - TITLES_MAX);
	print_state(group[0], have_same_object(group, count));
	print(stdout, "; CPU time %.3f s%s\n", (double)cpu_ns / 1e9, count > 1 ? " in all" : "");
	print_frames(group[0], style);
	print_end(group[0], sampler);
}

static bool was_shown(const struct dump *dump, size_t thread)
{
	for (size_t i = 0; i < thread; i++)
		if (is_alike(&dump->threads[i], &dump->threads[thread]))
			return true;
	return false;
}

static void print_threads(const struct dump *dump, const struct dump_style *style)
{
	const struct dumped_thread **group = calloc(dump->count + 1, sizeof(void *));

	for (size_t i = 0; group && i < dump->count; i++) {
		size_t count = 0;

		if (!style->all && was_shown(dump, i))
			continue;
		group[count++] = &dump->threads[i];
		for (size_t k = i + 1; !style->all && k < dump->count; k++)
			if (is_alike(&dump->threads[i], &dump->threads[k]))
				group[count++] = &dump->threads[k];
		print_group(group, count, dump->sampler, style);
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
		print(stdout, " waits for the mutex at 0x%" PRIx64 ", held by ", one->lock);
		print_title(&dump->threads[next->thread]);
		print(stdout, "\n");
	}
}

void dump_print(pid_t pid, const struct dump *dump, const struct dump_style *style)
{
	print(stdout, "process %d: %zu thread%s, sampler %s\n", pid, dump->count,
	      plural(dump->count), dump->sampler);
	for (const char *at = dump->reasons; *at; at += strcspn(at, "\n"), at += *at == '\n')
		print(stderr, "note: %.*s\n", (int)strcspn(at, "\n"), at);
	print_deadlock(dump);
	print_threads(dump, style);
}
