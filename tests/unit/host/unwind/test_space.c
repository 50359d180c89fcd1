/*
 * Address spaces: our own, with libraries that come, go and are deleted.
 */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/process/maps.h"
#include "host/unwind/modules.h"
#include "host/unwind/space.h"
#include "host/unwind/tables/image.h"

static char folder[] = "/tmp/limpet-test-space-XXXXXX";

static struct space *open_own(void)
{
	struct space *space = NULL;
	struct err err = { 0 };

	assert_int_equal(space_open(&space, getpid(), &err), 0);
	return space;
}

static void refresh(struct space *space)
{
	struct err err = { 0 };

	assert_int_equal(space_refresh(space, &err), 0);
}

/* The seed as a file of this name, mapped executable as a whole. */
static void *map_seed(const char *name, char *ret_path, size_t capacity)
{
	CLEANUP(free) char *bytes = NULL;
	CLEANUP(close) int fd = -1;
	size_t size;
	char seed[512];
	void *address;

	snprintf(seed, sizeof(seed), "%s/x86_64", getenv("SEEDS"));
	assert_int_equal(text_read_file(seed, 1 << 20, &bytes, &size), 0);
	snprintf(ret_path, capacity, "%s/%s", folder, name);
	fd = open(ret_path, O_RDWR | O_CREAT | O_TRUNC, 0755);
	assert_int_equal(write(fd, bytes, size), size);
	address = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(address, MAP_FAILED);
	return address;
}

static void finds_our_own_code(void **state)
{
	struct space *space = open_own();
	uint64_t here = (uint64_t)(uintptr_t)finds_our_own_code;
	const struct space_range *range = space_find(space, here);
	const struct unwind_row *row;

	(void)state;
	assert_non_null(range);
	assert_int_equal(range->module->kind, MODULE_FILE);
	assert_non_null(range->module->table);
	row = unwind_table_find(range->module->table, here + 1 - range->bias);
	assert_int_not_equal(row->kind, UNWIND_NONE);
	assert_null(space_find(space, (uint64_t)(uintptr_t)&space));
	assert_null(space_find(space, 0));
	for (size_t i = 1; i < space->count; i++)
		assert_true(space->ranges[i].start >= space->ranges[i - 1].end);
	space_close(space);
}

static void knows_the_vdso(void **state)
{
	struct space *space = open_own();
	const struct module *vdso = NULL;

	(void)state;
	for (size_t i = 0; i < space->count; i++)
		if (space->ranges[i].module->kind == MODULE_VDSO)
			vdso = space->ranges[i].module;
	space_close(space);
	if (!vdso)
		skip();
	assert_non_null(vdso->table);
	assert_non_null(vdso->image_path);
	assert_int_equal(access(vdso->image_path, R_OK), 0);
}

static void follows_what_comes_and_goes(void **state)
{
	struct space *space = open_own();
	unsigned generation = space->generation;
	const struct module *module;
	char path[512];
	void *address;

	(void)state;
	refresh(space);
	assert_int_equal(space->generation, generation);
	address = map_seed("comes", path, sizeof(path));
	refresh(space);
	assert_true(space->generation > generation);
	assert_non_null(space_find(space, (uint64_t)(uintptr_t)address));
	module = space_find(space, (uint64_t)(uintptr_t)address)->module;
	assert_string_equal(module->path, path);
	assert_string_equal(module->image_path, path);
	assert_int_equal(module->build_id_size, 20);
	assert_ptr_equal(module_at(module->number), module);
	munmap(address, 4096);
	refresh(space);
	assert_null(space_find(space, (uint64_t)(uintptr_t)address));
	space_close(space);
}

static void keeps_what_was_there_when_it_merges(void **state)
{
	struct space *space = open_own();
	struct err err = { 0 };
	char path[512];
	void *address = map_seed("merged", path, sizeof(path));
	size_t before;

	(void)state;
	refresh(space);
	before = space->count;
	munmap(address, 4096);
	assert_int_equal(space_merge(space, &err), 0);
	assert_int_equal(space->count, before);
	assert_non_null(space_find(space, (uint64_t)(uintptr_t)address));
	space_close(space);
}

static void a_record_of_a_mapping_covers_what_was_there(void **state)
{
	struct space *space = open_own();
	size_t before = space->count;
	struct mapping mapping = { .start = space->ranges[0].start,
				   .end = space->ranges[0].end,
				   .executable = true };

	(void)state;
	assert_int_equal(space_map(space, &mapping), 0);
	assert_int_equal(space->count, before);
	assert_int_equal(space->ranges[0].module->kind, MODULE_ANONYMOUS);
	mapping.start = 0x1000;
	mapping.end = 0x2000;
	assert_int_equal(space_map(space, &mapping), 0);
	assert_int_equal(space->count, before + 1);
	assert_non_null(space_find(space, 0x1fff));
	space_close(space);
}

/* Another file of the same name must not be taken for it. */
static void reads_a_deleted_file_through_its_mapping(void **state)
{
	char path[512], other[600];
	void *address = map_seed("deleted", path, sizeof(path));
	struct space *space;
	const struct module *module;
	FILE *file;

	(void)state;
	assert_int_equal(unlink(path), 0);
	snprintf(other, sizeof(other), "%s", path);
	file = fopen(other, "w");
	assert_non_null(file);
	fputs("something else", file);
	fclose(file);
	space = open_own();
	module = space_find(space, (uint64_t)(uintptr_t)address)->module;
	assert_true(module->is_deleted);
	assert_string_equal(module->path, path);
	assert_non_null(module->table);
	assert_int_equal(unwind_table_find(module->table, 0x310)->kind, UNWIND_FP);
	space_close(space);
	munmap(address, 4096);
}

static int read_own(void *context, uint64_t address, void *into, size_t size)
{
	(void)context;
	memcpy(into, (const void *)(uintptr_t)address, size);
	return 0;
}

/* Without its file: segments are enough. */
static void an_image_in_memory_gives_the_same_table(void **state)
{
	const struct memory_reader own = { read_own, NULL };
	struct unwind_table *table = NULL;
	struct image image = { 0 };
	struct err err = { 0 };
	char path[512];
	void *address = map_seed("memory", path, sizeof(path));

	(void)state;
	assert_int_equal(image_load_memory(&image, &own, (uint64_t)(uintptr_t)address), 0);
	assert_int_equal(unwind_table_compile(&table, image.bytes, image.size, &err), 0);
	assert_int_equal(unwind_table_find(table, 0x310)->kind, UNWIND_FP);
	assert_int_equal(unwind_table_find(table, 0x2d0)->kind, UNWIND_PLT);
	unwind_table_free(table);
	image_done(&image);
	munmap(address, 4096);
}

/* A table in the cache makes it needless. */
static void code_is_read_when_it_is_asked_for(void **state)
{
	CLEANUP(close) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t at = (uint64_t)(uintptr_t)code_is_read_when_it_is_asked_for;
	struct image image = { 0 };
	struct maps maps = { 0 };
	struct err err = { 0 };
	const struct mapping *mapping;

	(void)state;
	assert_int_equal(maps_read(getpid(), &maps, &err), 0);
	mapping = maps_at(&maps, at);
	assert_non_null(mapping);
	at = at - mapping->start + mapping->offset;
	assert_int_equal(image_load_file(&image, fd), 0);
	assert_false(image.has_code);
	assert_int_equal(image.bytes[at], 0);
	image_load_code(&image, fd);
	assert_true(image.has_code);
	assert_memory_equal(image.bytes + at, (const void *)code_is_read_when_it_is_asked_for, 16);
	image_done(&image);
	maps_done(&maps);
}

static int read_large(void *context, uint64_t address, void *into, size_t size)
{
	const char *page = context;

	memset(into, 0, size);
	if (address < 4096)
		memcpy(into, page + address, MIN(size, 4096 - address));
	return 0;
}

/* PyTorch's libraries have more code than is read; their rules are read all the same. */
static void more_code_than_is_read_has_its_rules(void **state)
{
	char path[512];
	void *address = map_seed("large", path, sizeof(path));
	char page[4096];
	const struct memory_reader large = { read_large, page };
	struct unwind_table *table = NULL;
	struct image image = { 0 };
	struct err err = { 0 };
	Elf64_Ehdr header;

	(void)state;
	memcpy(page, address, sizeof(page));
	memcpy(&header, page, sizeof(header));
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr *segment = (void *)(page + header.e_phoff + i * sizeof(*segment));

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
			segment->p_filesz = segment->p_memsz = IMAGE_PART_MAX + 4096;
	}
	assert_int_equal(image_load_memory(&image, &large, 0), 0);
	assert_true(image.size > IMAGE_PART_MAX);
	assert_false(image.is_cut);
	assert_int_equal(unwind_table_compile(&table, image.bytes, image.size, &err), 0);
	assert_int_equal(unwind_table_find(table, 0x310)->kind, UNWIND_FP);
	unwind_table_free(table);
	image_done(&image);
	munmap(address, 4096);
}

static void a_file_that_is_no_object_has_a_complaint(void **state)
{
	char path[512];
	CLEANUP(close) int fd = -1;
	struct space *space;
	const struct module *module;
	void *address;

	(void)state;
	snprintf(path, sizeof(path), "%s/text", folder);
	fd = open(path, O_RDWR | O_CREAT, 0755);
	assert_int_equal(ftruncate(fd, 4096), 0);
	address = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	space = open_own();
	module = space_find(space, (uint64_t)(uintptr_t)address)->module;
	assert_null(module->table);
	assert_true(module->complaint[0] != '\0');
	space_close(space);
	munmap(address, 4096);
}

static void a_child_begins_with_what_its_parent_has(void **state)
{
	struct space *parent = open_own(), *child = NULL;

	(void)state;
	assert_int_equal(space_fork(&child, parent, 1), 0);
	assert_int_equal(child->count, parent->count);
	space_forget(child);
	assert_int_equal(child->count, 0);
	assert_true(parent->count > 0);
	space_close(child);
	assert_int_equal(space_fork(&child, NULL, 1), 0);
	assert_int_equal(child->count, 0);
	space_close(child);
	space_close(parent);
}

static void there_is_no_such_process(void **state)
{
	struct space *space = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(space_open(&space, 4194303, &err), -ESRCH);
	assert_null(space);
}

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	return setenv("XDG_CACHE_HOME", folder, 1);
}

static size_t count_descriptors(void)
{
	size_t count = 0;

	for (int fd = 0; fd < 4096; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* As a process that was born and maps the same bytes as a file of its own. */
static void *map_in_memory(const char *path, size_t *ret_size)
{
	CLEANUP(free) char *bytes = NULL;
	CLEANUP(close) int fd = memfd_create("agent", MFD_CLOEXEC);
	void *address;

	assert_int_equal(text_read_file(path, 1 << 20, &bytes, ret_size), 0);
	assert_int_equal(write(fd, bytes, *ret_size), *ret_size);
	address = mmap(NULL, *ret_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(address, MAP_FAILED);
	return address;
}

/* Agents and code of runtimes: each process has files of its own, with the same bytes. */
static void files_in_memory_keep_no_descriptors_and_share_a_table(void **state)
{
	const struct unwind_table *table = NULL;
	char seed[512];
	size_t before = 0;

	(void)state;
	snprintf(seed, sizeof(seed), "%s/x86_64", getenv("SEEDS"));
	for (unsigned i = 0; i < 50; i++) {
		size_t size;
		void *address = map_in_memory(seed, &size);
		struct space *space = open_own();
		const struct space_range *range = space_find(space, (uintptr_t)address);

		assert_non_null(range);
		if (i == 0) {
			table = range->module->table;
			before = count_descriptors();
		}
		assert_ptr_equal(range->module->table, table);
		assert_null(range->module->image_path);
		space_close(space);
		munmap(address, size);
	}
	assert_int_equal(count_descriptors(), before);
}

static void the_last_deleted_files_stay_open(void **state)
{
	size_t before = count_descriptors();

	(void)state;
	modules_bound(SIZE_MAX, SIZE_MAX, 8);
	for (unsigned i = 0; i < 40; i++) {
		char path[600], name[32];
		void *address;
		struct space *space;

		snprintf(name, sizeof(name), "deleted-%u", i);
		address = map_seed(name, path, sizeof(path));
		unlink(path);
		space = open_own();
		assert_non_null(space_find(space, (uintptr_t)address));
		space_close(space);
		munmap(address, 4096);
	}
	modules_bound(SIZE_MAX, SIZE_MAX, SIZE_MAX);
	assert_in_range(count_descriptors(), 0, before + 8);
}

static int end(void **state)
{
	char command[600];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_our_own_code),
		cmocka_unit_test(knows_the_vdso),
		cmocka_unit_test(follows_what_comes_and_goes),
		cmocka_unit_test(keeps_what_was_there_when_it_merges),
		cmocka_unit_test(a_record_of_a_mapping_covers_what_was_there),
		cmocka_unit_test(reads_a_deleted_file_through_its_mapping),
		cmocka_unit_test(an_image_in_memory_gives_the_same_table),
		cmocka_unit_test(code_is_read_when_it_is_asked_for),
		cmocka_unit_test(more_code_than_is_read_has_its_rules),
		cmocka_unit_test(a_file_that_is_no_object_has_a_complaint),
		cmocka_unit_test(a_child_begins_with_what_its_parent_has),
		cmocka_unit_test(there_is_no_such_process),
		cmocka_unit_test(files_in_memory_keep_no_descriptors_and_share_a_table),
		cmocka_unit_test(the_last_deleted_files_stay_open),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
