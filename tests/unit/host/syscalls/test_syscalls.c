/*
 * System calls: names and shapes by number, files by descriptor, and what is added up of them.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/model/calls/syscalls.h"
#include "host/syscalls/syscall_files.h"
#include "host/syscalls/syscall_table.h"

static struct trace_function functions[] = {
	{ "openat", "", DOMAIN_SYSCALL, 2, { VALUE_FILE, VALUE_RESULT } },
	{ "read",
	  "",
	  DOMAIN_SYSCALL,
	  4,
	  { VALUE_DESCRIPTOR, VALUE_FILE, VALUE_SIZE, VALUE_RESULT } },
	{ "write",
	  "",
	  DOMAIN_SYSCALL,
	  4,
	  { VALUE_DESCRIPTOR, VALUE_FILE, VALUE_SIZE, VALUE_RESULT } },
	{ "getpid", "", DOMAIN_SYSCALL, 1, { VALUE_RESULT } },
	{ "rt_sigreturn", "", DOMAIN_SYSCALL, 0, { 0 } },
	{ "read", "", DOMAIN_IO, 1, { VALUE_RESULT } },
	{ "recvmmsg", "", DOMAIN_SYSCALL, 3, { VALUE_DESCRIPTOR, VALUE_FILE, VALUE_RESULT } },
};

enum { OPENAT, READ, WRITE, GETPID, SIGRETURN, LIBRARY_READ, RECVMMSG };

static struct model_process process;
static struct model_thread thread = { .process = &process };
static struct model_thread *threads[] = { &thread };
static const struct model model = { .threads = threads, .thread_count = 1 };
static struct syscalls syscalls;

static void name_file(uint64_t number, const char *text)
{
	struct {
		struct record_name name;
		char text[32];
	} record = { .name = { .head = { .kind = RECORD_NAME },
			       .bytes = (uint16_t)strlen(text),
			       .space = NAME_FILE,
			       .id = number } };

	memcpy(record.text, text, strlen(text));
	assert_int_equal(names_add(&process.names, &record.name), 0);
}

static int setup(void **state)
{
	(void)state;
	name_file(1, "/a");
	name_file(2, "/b");
	return syscalls_init(&syscalls, &model);
}

static int teardown(void **state)
{
	(void)state;
	syscalls_done(&syscalls);
	names_done(&process.names);
	return 0;
}

static void syscall_take(unsigned function, const uint64_t *values)
{
	struct call call = { .process = &process,
			     .thread = &thread,
			     .function = &functions[function],
			     .begin_ns = 10,
			     .end_ns = 15,
			     .value_count = functions[function].value_count,
			     .values = values,
			     .text = "" };

	assert_int_equal(syscalls_add(&syscalls, &call), 0);
}

#define VALUES(...) ((const uint64_t[]){ __VA_ARGS__ })

static const struct syscall_file_row *file_find(const char *name)
{
	for (uint32_t i = 0; i < syscalls.file_count; i++)
		if (!strcmp(syscalls.files[i].name, name))
			return &syscalls.files[i];
	fail_msg("no file %s", name);
	return &syscalls.files[0];
}

static void errors_are_told_by_call_and_name(void **state)
{
	char buffer[32];

	(void)state;
	syscall_take(OPENAT, VALUES(1, (uint64_t)-ENOENT));
	syscall_take(OPENAT, VALUES(1, (uint64_t)-ENOENT));
	syscall_take(OPENAT, VALUES(1, (uint64_t)-EACCES));
	syscall_take(OPENAT, VALUES(1, 3));
	syscall_take(GETPID, VALUES((uint64_t)-4096)); /* no error is so large */
	syscall_take(SIGRETURN, NULL);
	syscall_take(LIBRARY_READ, VALUES((uint64_t)-EIO));
	syscalls_sort(&syscalls);
	assert_int_equal(syscalls.error_count, 2);
	assert_int_equal(syscalls.errors[0].calls, 2);
	assert_string_equal(syscall_error_name(syscalls.errors[0].error, buffer), "ENOENT");
	assert_string_equal(syscall_error_name(syscalls.errors[1].error, buffer), "EACCES");
	assert_int_equal(syscalls_errors_of(&syscalls, "openat"), 3);
	assert_int_equal(syscalls_errors_of(&syscalls, "getpid"), 0);
	assert_int_equal(syscalls.thread_errors[0], 3);
	assert_string_equal(syscall_error_name(512, buffer), "ERESTARTSYS");
	assert_string_equal(syscall_error_name(4000, buffer), "error 4000");
}

static void files_have_their_bytes_and_errors(void **state)
{
	(void)state;
	syscall_take(OPENAT, VALUES(1, 3));
	syscall_take(READ, VALUES(3, 1, 100, 60));
	syscall_take(READ, VALUES(3, 1, 100, (uint64_t)-EIO));
	syscall_take(WRITE, VALUES(4, 2, 10, 10));
	syscall_take(RECVMMSG, VALUES(4, 2, 7)); /* messages */
	syscall_take(READ, VALUES(9, 0, 5, 5));  /* nobody knows which */
	syscall_take(READ, VALUES(9, 77, 5, 5)); /* a name that never came */
	syscalls_sort(&syscalls);
	assert_int_equal(syscalls.file_count, 3);
	assert_int_equal(file_find("/a")->statistics.calls, 3);
	assert_int_equal(file_find("/a")->read_bytes, 60);
	assert_int_equal(file_find("/a")->errors, 1);
	assert_int_equal(file_find("/b")->written_bytes, 10);
	assert_int_equal(file_find("/b")->read_bytes, 0);
	assert_int_equal(file_find("")->read_bytes, 10);
	assert_int_equal(syscalls.files_ns, 35);
}

static void calls_have_names_and_shapes(void **state)
{
	char name[64];

	(void)state;
	syscall_name(SYS_openat, false, name, sizeof(name));
	assert_string_equal(name, "openat");
	syscall_name(SYS_exit_group, false, name, sizeof(name));
	assert_string_equal(name, "exit_group");
	syscall_name(462, false, name, sizeof(name));
	assert_string_equal(name, "mseal");
	syscall_name(1023, false, name, sizeof(name));
	assert_string_equal(name, "syscall 1023");
	syscall_name(-1, false, name, sizeof(name));
	assert_string_equal(name, "syscall -1");
	syscall_name(SYS_openat, true, name, sizeof(name));
	assert_non_null(strstr(name, "(32-bit)"));
	assert_int_equal(syscall_shape(SYS_read), SYSCALL_DESCRIPTOR | SYSCALL_SIZE);
	assert_int_equal(syscall_shape(SYS_openat), SYSCALL_PATH_SECOND | SYSCALL_NEW_DESCRIPTOR);
	assert_int_equal(syscall_shape(SYS_getpid), 0);
	assert_int_equal(syscall_shape(UINT32_MAX), 0);
}

static void a_descriptor_leads_where_it_was_opened(void **state)
{
	struct syscall_files files = { .pid = getpid() };
	struct syscall_file first, second;

	(void)state;
	assert_int_equal(syscall_files_name(&files, "/a", &first), 0);
	assert_true(first.is_new);
	assert_int_equal(syscall_files_opened(&files, 700, first.number), 0);
	assert_int_equal(syscall_files_find(&files, 700, &second), 0);
	assert_int_equal(second.number, first.number);
	assert_false(second.is_new);
	syscall_files_closed(&files, 700);
	/* Nothing is open there. */
	assert_int_equal(syscall_files_find(&files, 700, &second), 0);
	assert_int_equal(second.number, 0);
	assert_int_equal(syscall_files_name(&files, "/b", &second), 0);
	assert_true(second.is_new && second.number != first.number);
	assert_int_equal(syscall_files_opened(&files, 700, second.number), 0);
	syscall_files_closed(&files, -1);
	assert_int_equal(syscall_files_find(&files, 700, &second), 0);
	assert_int_equal(second.number, 0);
	assert_int_equal(syscall_files_find(&files, -100, &second), 0);
	assert_int_equal(second.number, 0);
	syscall_files_done(&files);
}

static void the_kernel_is_asked_for_others(void **state)
{
	struct syscall_files files = { .pid = getpid() };
	struct syscall_file file;
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(syscall_files_find(&files, pipes[0], &file), 0);
	assert_true(file.is_new);
	assert_int_equal(strncmp(file.name, "pipe:[", 6), 0);
	assert_int_equal(syscall_files_find(&files, pipes[1], &file), 0);
	assert_false(file.is_new); /* both ends are one */
	close(pipes[0]);
	close(pipes[1]);
	syscall_files_done(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(errors_are_told_by_call_and_name, setup, teardown),
		cmocka_unit_test_setup_teardown(files_have_their_bytes_and_errors, setup, teardown),
		cmocka_unit_test(calls_have_names_and_shapes),
		cmocka_unit_test(a_descriptor_leads_where_it_was_opened),
		cmocka_unit_test(the_kernel_is_asked_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
