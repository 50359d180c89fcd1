/*
 * Tables on disk: what is believed, and what is not.
 */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/unwind/tables/cache.h"

static const unsigned char build_id[20] = { 0xab, 1, 2, 3 };
static char folder[] = "/tmp/limpet-test-cache-XXXXXX";
static char path[512];

static struct unwind_table *make(void)
{
	CLEANUP(free) char *bytes = NULL;
	struct unwind_table *table = NULL;
	struct err err = { 0 };
	size_t size;
	char seed[512];

	snprintf(seed, sizeof(seed), "%s/x86_64", getenv("SEEDS"));
	assert_int_equal(text_read_file(seed, 1 << 20, &bytes, &size), 0);
	assert_int_equal(unwind_table_compile(&table, bytes, size, &err), 0);
	return table;
}

static struct unwind_table *load(uint64_t source)
{
	return unwind_cache_load(build_id, sizeof(build_id), source);
}

static bool is_stored(void)
{
	struct unwind_table *table = load(7);

	unwind_table_free(table);
	return table;
}

static void store(void)
{
	struct unwind_table *table = make();

	unwind_cache_store(build_id, sizeof(build_id), 7, table);
	unwind_table_free(table);
}

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/limpet/unwind/ab010203%032d", folder, 0);
	return setenv("XDG_CACHE_HOME", folder, 1);
}

static int end(void **state)
{
	char command[600];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

static void gives_back_what_was_stored(void **state)
{
	struct unwind_table *made = make(), *loaded;

	(void)state;
	assert_null(load(7));
	store();
	loaded = load(7);
	assert_non_null(loaded);
	assert_true(loaded->is_mapped);
	assert_int_equal(loaded->first, made->first);
	assert_int_equal(loaded->row_count, made->row_count);
	assert_int_equal(loaded->page_count, made->page_count);
	assert_int_equal(loaded->special_count, made->special_count);
	assert_memory_equal(loaded->rows, made->rows, made->row_count * sizeof(*made->rows));
	assert_memory_equal(loaded->pages, made->pages, made->page_count * sizeof(*made->pages));
	assert_memory_equal(loaded->specials, made->specials,
			    made->special_count * sizeof(*made->specials));
	unwind_table_free(loaded);
	unwind_table_free(made);
}

static void does_not_believe_a_table_of_other_bytes(void **state)
{
	(void)state;
	store();
	assert_null(load(8));
}

static void does_not_believe_a_changed_or_cut_file(void **state)
{
	CLEANUP(free) char *bytes = NULL;
	size_t size;

	(void)state;
	store();
	assert_int_equal(text_read_file(path, 1 << 20, &bytes, &size), 0);
	for (size_t at = 0; at < size; at += 3) {
		CLEANUP(close) int fd = open(path, O_WRONLY);

		bytes[at] ^= 0x10;
		assert_int_equal(pwrite(fd, bytes, size, 0), size);
		assert_null(load(7));
		bytes[at] ^= 0x10;
	}
	for (size_t length = 0; length < size; length += 5) {
		CLEANUP(close) int fd = open(path, O_WRONLY | O_TRUNC);

		assert_int_equal(pwrite(fd, bytes, length, 0), length);
		assert_null(load(7));
	}
}

static void does_not_believe_what_others_may_write(void **state)
{
	char unwind[512];

	(void)state;
	snprintf(unwind, sizeof(unwind), "%s/limpet/unwind", folder);
	store();
	assert_int_equal(chmod(path, 0666), 0);
	assert_null(load(7));
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(chmod(unwind, 0777), 0);
	assert_null(load(7));
	assert_int_equal(chmod(unwind, 0700), 0);
	if (!geteuid()) {
		struct unwind_table *table = load(7);

		assert_non_null(table);
		unwind_table_free(table);
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_null(load(7));
	}
}

static void does_not_follow_links(void **state)
{
	char other[512];

	(void)state;
	snprintf(other, sizeof(other), "%s/other", folder);
	unlink(path);
	store();
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_null(load(7));
	assert_int_equal(unlink(path), 0);
}

static void leaves_no_drafts(void **state)
{
	char unwind[512];
	unsigned count = 0;
	DIR *listing;

	(void)state;
	snprintf(unwind, sizeof(unwind), "%s/limpet/unwind", folder);
	store();
	listing = opendir(unwind);
	for (struct dirent *entry; (entry = readdir(listing));)
		count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(listing);
	assert_int_equal(count, 1);
}

/* A file in the folder that was used that long ago. */
static void lay(const char *name, off_t size, time_t age_s)
{
	struct timespec times[2] = { { time(NULL) - age_s, 0 }, { time(NULL) - age_s, 0 } };
	char file[600];
	int fd;

	snprintf(file, sizeof(file), "%s/limpet/unwind/%s", folder, name);
	fd = open(file, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static unsigned count_files(void)
{
	unsigned count = 0;
	char unwind[600];
	DIR *listing;

	snprintf(unwind, sizeof(unwind), "%s/limpet/unwind", folder);
	listing = opendir(unwind);
	for (struct dirent *entry; (entry = readdir(listing));)
		count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(listing);
	return count;
}

static void forgets_what_was_not_used_for_long(void **state)
{
	char name[32];

	(void)state;
	store();
	lay("old", (off_t)CACHE_BYTES_MAX, 2000);
	lay("older", 4096, 3000);
	lay("young", 4096, 1000);
	lay(".draft.1", 1, 7200);
	lay(".draft.2", 1, 60);
	store();
	assert_int_equal(count_files(), 3);
	assert_true(is_stored());
	for (unsigned i = 0; i <= CACHE_FILES_MAX; i++) {
		snprintf(name, sizeof(name), "%u", i);
		lay(name, 1, 2000);
	}
	store();
	assert_true(count_files() <= CACHE_FILES_MAX / 4 * 3 + 1);
	assert_true(is_stored());
}

static void does_without_a_folder(void **state)
{
	struct unwind_table *table = make();

	(void)state;
	setenv("XDG_CACHE_HOME", "/nonexistent/limpet", 1);
	unwind_cache_store(build_id, sizeof(build_id), 7, table);
	assert_null(load(7));
	setenv("XDG_CACHE_HOME", folder, 1);
	unwind_cache_store(build_id, 4, 7, table); /* too short to tell files apart */
	assert_null(unwind_cache_load(build_id, 4, 7));
	unwind_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_back_what_was_stored),
		cmocka_unit_test(does_not_believe_a_table_of_other_bytes),
		cmocka_unit_test(does_not_believe_a_changed_or_cut_file),
		cmocka_unit_test(does_not_believe_what_others_may_write),
		cmocka_unit_test(does_not_follow_links),
		cmocka_unit_test(leaves_no_drafts),
		cmocka_unit_test(forgets_what_was_not_used_for_long),
		cmocka_unit_test(does_without_a_folder),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
