/*
 * Dumps of several processes that share what was read of files: lines of a file are read once, and
 * code that a process has made in its memory is that of no other.
 */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/process/stat.h"
#include "host/recorder/base/code_list.h"
#include "host/recorder/dump/dump.h"
#include "host/symbols/symbol_file.h"
#include "host/unwind/space.h"

#define LINE 4711u

DEFINE_CLEANUP(struct code_list *, code_list_free)

static unsigned opened;

static struct lines *open_lines(Elf *elf)
{
	opened++;
	return (struct lines *)elf;
}

static void close_lines(struct lines *lines)
{
	(void)lines;
}

static size_t find_lines(struct lines *lines, uint64_t address, struct source_location *ret,
			 size_t room)
{
	(void)lines;
	(void)address;
	(void)room;
	*ret = (struct source_location){ .file = "counted.c", .line = LINE };
	return 1;
}

static const struct line_reader counting = { open_lines, close_lines, find_lines };

static int begin(void **state)
{
	(void)state;
	symbol_file_read_lines_by(&counting);
	return 0;
}

/* Waits where it can be read: in a call of the kernel. */
static bool is_waiting(pid_t pid)
{
	struct process_stat stat;
	struct err err = { 0 };

	assert_int_equal(stat_read(pid, pid, &stat, &err), 0);
	return stat.state == 'S';
}

static pid_t fork_waiting(void)
{
	int ready[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	for (unsigned ms = 0; ms < PATIENCE_MS && !is_waiting(child); ms++)
		usleep(1000);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* NULL: this machine lets nobody read others. */
static struct dump *dump_waiting(struct code_list *codes)
{
	const struct dump_options options = { .wants_lines = true,
					      .sampler = "read",
					      .codes = codes };
	pid_t child = fork_waiting();
	struct dump *dump = NULL;
	struct err err = { 0 };
	int r = dump_make(&dump, child, &options, &err);

	end_child(child);
	if (!r)
		return dump;
	dump_free(dump);
	assert_true(r == -EPERM || r == -EACCES);
	return NULL;
}

static void assert_has_line(const struct dump *dump)
{
	const struct dumped_thread *thread = dump->threads;

	assert_int_equal(dump->count, 1);
	assert_true(thread->has_stack);
	assert_true(thread->frame_count > 1);
	assert_string_equal(thread->frames[1].names[0].file, "counted.c");
	assert_int_equal(thread->frames[1].names[0].line, LINE);
}

static void lines_are_read_once(void **state)
{
	CLEANUP(code_list_free) struct code_list *codes = code_list_new();
	CLEANUP(dump_free) struct dump *first = NULL, *second = NULL;
	unsigned after_first;

	(void)state;
	opened = 0;
	first = dump_waiting(codes);
	if (!first)
		skip();
	after_first = opened;
	assert_int_not_equal(after_first, 0);
	second = dump_waiting(codes);
	assert_non_null(second);
	assert_int_equal(opened, after_first);
	assert_has_line(first);
	assert_has_line(second);
}

static void dumps_alone_read_for_themselves(void **state)
{
	CLEANUP(dump_free) struct dump *first = NULL, *second = NULL;
	unsigned after_first;

	(void)state;
	opened = 0;
	first = dump_waiting(NULL);
	if (!first)
		skip();
	after_first = opened;
	second = dump_waiting(NULL);
	assert_non_null(second);
	assert_int_equal(opened, 2 * after_first);
	assert_has_line(second);
}

static void write_map(const char *path, const void *code, const char *name)
{
	FILE *map;

	unlink(path);
	map = fopen(path, "wex");
	assert_non_null(map);
	fprintf(map, "%lx 1000 %s\n", (unsigned long)(uintptr_t)code, name);
	fclose(map);
}

static struct recorded_frame find_own(struct code_list *codes, const void *address)
{
	struct recorded_frame frame;
	struct space *space = NULL;
	struct err err = { 0 };

	assert_int_equal(space_open(&space, getpid(), &err), 0);
	assert_int_equal(code_list_find(codes, space, 0, (uint64_t)(uintptr_t)address,
					/* is_return */ false, &frame),
			 0);
	space_close(space);
	return frame;
}

static const char *name_of(struct code_list *codes, const struct recorded_frame *frame)
{
	static struct recorded_name names[FRAME_NAMES_MAX];
	uint32_t count;
	bool is_named;

	assert_int_equal(
		code_list_name(codes, frame, /* wants_lines */ false, names, &count, &is_named), 0);
	return names[0].function;
}

static void made_code_is_forgotten(void **state)
{
	CLEANUP(code_list_free) struct code_list *codes = code_list_new();
	void *made = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct recorded_frame first, second, file;
	const char *name;
	char path[64];

	(void)state;
	assert_ptr_not_equal(made, MAP_FAILED);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = find_own(codes, (const void *)(uintptr_t)find_own);
	write_map(path, made, "before");
	first = find_own(codes, made);
	name = name_of(codes, &first);
	assert_string_equal(name, "before");

	code_list_forget_processes(codes);
	write_map(path, made, "after");
	second = find_own(codes, made);
	assert_int_not_equal(second.code, first.code);
	assert_string_equal(name_of(codes, &second), "after");
	assert_string_equal(name, "before");
	first = find_own(codes, (const void *)(uintptr_t)find_own);
	assert_int_equal(first.code, file.code);
	unlink(path);
	munmap(made, 4096);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read_once),
		cmocka_unit_test(dumps_alone_read_for_themselves),
		cmocka_unit_test(made_code_is_forgotten),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
