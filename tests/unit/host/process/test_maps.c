/*
 * /proc/PID/maps: what the kernel writes, and what it would never write.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/process/maps.h"

static const char sample[] =
	"55e8c0a00000-55e8c0a02000 r--p 00000000 fe:00 97615                      /usr/bin/cat\n"
	"55e8c0a02000-55e8c0a07000 r-xp 00002000 fe:00 97615                      /usr/bin/cat\n"
	"55e8c2a00000-55e8c2a21000 rw-p 00000000 00:00 0                          [heap]\n"
	"7f2a3c000000-7f2a3c021000 ---p 00000000 00:00 0 \n"
	"7f2a40000000-7f2a40001000 rw-s 00001000 103:1a2 18446744073709551615     /a dir/b (deleted)\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

static void parses_every_kind_of_line(void **state)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(maps_parse(sample, strlen(sample), &maps, &err), 0);
	assert_int_equal(maps.count, 6);
	assert_true(maps.items[1].readable && !maps.items[1].writable && maps.items[1].executable);
	assert_false(maps.items[1].shared);
	assert_int_equal(maps.items[1].offset, 0x2000);
	assert_int_equal(maps.items[1].inode, 97615);
	assert_int_equal(maps.items[1].dev_major, 0xfe);
	assert_string_equal(maps.items[1].path, "/usr/bin/cat");
	assert_string_equal(maps.items[2].path, "[heap]");
	assert_string_equal(maps.items[3].path, "");
	assert_true(maps.items[4].shared);
	assert_int_equal(maps.items[4].dev_minor, 0x1a2);
	assert_true(maps.items[4].inode == UINT64_MAX);
	assert_string_equal(maps.items[4].path, "/a dir/b (deleted)");
}

static void finds_the_mapping_of_an_address(void **state)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	struct maps none = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(maps_parse(sample, strlen(sample), &maps, &err), 0);
	assert_ptr_equal(maps_at(&maps, 0x55e8c0a00000), &maps.items[0]);
	assert_ptr_equal(maps_at(&maps, 0x55e8c0a01fff), &maps.items[0]);
	assert_ptr_equal(maps_at(&maps, 0x55e8c0a02000), &maps.items[1]);
	assert_ptr_equal(maps_at(&maps, 0xffffffffff600fff), &maps.items[5]);
	assert_null(maps_at(&maps, 0x55e8c0a07000));
	assert_null(maps_at(&maps, 0));
	assert_null(maps_at(&maps, UINT64_MAX));
	assert_null(maps_at(&none, 0));
}

static void refuses_lines_that_make_no_sense(void **state)
{
	static const char *const lines[] = {
		"x",
		"\n",
		"1000-2000",
		"1000-2000 r-xp 0 fe:00",
		"1000-2000 rwxz 0 fe:00 1 /a",
		"2000-1000 r-xp 0 fe:00 1 /a",
		"1000-1000 r-xp 0 fe:00 1 /a",
		"1000-10000000000000000 r-xp 0 fe:00 1 /a",
		"1000-2000 r-xp 0 fe:100000000 1 /a",
		"2000-3000 r-xp 0 fe:00 1 /a\n1000-2000 r-xp 0 fe:00 1 /a",
		"1000-3000 r-xp 0 fe:00 1 /a\n2000-4000 r-xp 0 fe:00 1 /a",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct maps maps = { 0 };
		struct err err = { 0 };

		assert_int_equal(maps_parse(lines[i], strlen(lines[i]), &maps, &err), -EBADMSG);
		assert_null(maps.items);
	}
}

static void cuts_a_path_that_is_too_long(void **state)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	char line[600] = "1000-2000 r-xp 00000000 fe:00 1 /";
	struct err err;

	(void)state;
	memset(line + strlen(line), 'x', sizeof(line) - strlen(line));
	assert_int_equal(maps_parse(line, sizeof(line), &maps, &err), 0);
	assert_int_equal(strlen(maps.items[0].path), sizeof(maps.items[0].path) - 1);
}

static void reads_its_own_maps(void **state)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	const struct mapping *mapping;
	struct err err;

	(void)state;
	assert_int_equal(maps_read(getpid(), &maps, &err), 0);
	mapping = maps_at(&maps, (uintptr_t)sample);
	assert_non_null(mapping);
	assert_true(mapping->readable);
}

static void says_that_a_process_is_gone(void **state)
{
	struct maps maps = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(maps_read(INT32_MAX, &maps, &err), -ESRCH);
	assert_int_equal(err.exit, EXIT_NO_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_every_kind_of_line),
		cmocka_unit_test(finds_the_mapping_of_an_address),
		cmocka_unit_test(refuses_lines_that_make_no_sense),
		cmocka_unit_test(cuts_a_path_that_is_too_long),
		cmocka_unit_test(reads_its_own_maps),
		cmocka_unit_test(says_that_a_process_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
