/*
 * Names of code in many files: how many are open, and that names are the same when a file was
 * closed meanwhile, or none where another file has its name.
 */
#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/symbols/symbolizer.h"

#define FILES 200u
#define OPEN  130u /* as many as stay open, and a few that others need */

int main(void);

static char path[] = "/tmp/limpet-test-symbolizer-XXXXXX";

static size_t count_descriptors(void)
{
	size_t count = 0;

	for (int fd = 0; fd < 4096; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void write_file(const char *bytes, size_t size)
{
	CLEANUP(close) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	assert_int_equal(write(fd, bytes, size), size);
}

static void copy_self(void)
{
	CLEANUP(free) char *bytes = NULL;
	size_t size;

	assert_int_equal(text_read_file("/proc/self/exe", (size_t)256 << 20, &bytes, &size), 0);
	write_file(bytes, size);
}

static int begin(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	copy_self();
	return 0;
}

static int end(void **state)
{
	(void)state;
	return unlink(path);
}

/* Where the file has main(): what a position-independent one has first is at 0. */
static uint64_t address_of_main(void)
{
	extern const char __executable_start[];
	const Elf64_Ehdr *head = (const void *)__executable_start;
	uintptr_t first = head->e_type == ET_DYN ? (uintptr_t)__executable_start : 0;

	return (uintptr_t)main - first;
}

static void files_close_and_open_again(void **state)
{
	const struct symbol_origin origin = { .path = path, .image_path = path };
	struct symbolizer *symbolizer = symbolizer_new();
	size_t before = count_descriptors();
	struct code_names names;

	(void)state;
	for (unsigned i = 0; i < FILES; i++)
		assert_int_equal(symbolizer_module(symbolizer, CODE_FILE, &origin), (int)i);
	for (unsigned i = 0; i < FILES; i++) {
		assert_int_equal(symbolizer_find(symbolizer, i, address_of_main(), false, &names),
				 0);
		assert_string_equal(names.items[0].function, "main");
	}
	assert_in_range(count_descriptors(), before, before + OPEN);
	symbolizer_free(symbolizer);
	assert_int_equal(count_descriptors(), before);
}

static void a_file_in_its_stead_is_not_believed(void **state)
{
	const struct symbol_origin origin = { .path = path, .image_path = path };
	struct symbolizer *symbolizer = symbolizer_new();
	struct code_names names;

	(void)state;
	assert_int_equal(symbolizer_module(symbolizer, CODE_FILE, &origin), 0);
	assert_int_equal(symbolizer_find(symbolizer, 0, address_of_main(), false, &names), 0);
	assert_true(names.is_named);
	for (unsigned i = 1; i < FILES; i++) /* the first one closes */
		assert_int_equal(symbolizer_module(symbolizer, CODE_FILE, &origin), (int)i);
	unlink(path);
	copy_self();
	assert_int_equal(symbolizer_find(symbolizer, 0, address_of_main(), false, &names), 0);
	assert_false(names.is_named);
	symbolizer_free(symbolizer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_close_and_open_again),
		cmocka_unit_test(a_file_in_its_stead_is_not_believed),
	};

	return cmocka_run_group_tests_name("symbolizer", tests, begin, end);
}
