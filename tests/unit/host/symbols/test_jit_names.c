/*
 * Names of code that is made while a program runs: by time, from perf maps and jitdump files.  Here
 * the program is this one.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/symbols/jit/jitdump.h"
#include "host/symbols/jit/perf_map.h"

#define NOW UINT64_MAX

static const char *name_at(const struct jit_names *names, uint64_t address, uint64_t time_ns)
{
	uint32_t version = jit_names_version(names, address, time_ns);
	const struct jit_name *name = jit_names_find(names, address, version);

	return name ? jit_name_text(names, name) : "";
}

static void add(struct jit_names *names, uint64_t start, uint64_t size, const char *name,
		uint64_t born_ns)
{
	assert_int_equal(jit_names_add(names, start, size, name, born_ns), 0);
}

static void an_address_that_is_used_again(void **state)
{
	struct jit_names names = { 0 };

	(void)state;
	add(&names, 0x1000, 0x100, "first", 10);
	add(&names, 0x0f00, 0x400, "second", 20);
	assert_int_equal(jit_names_sort(&names), 0);
	add(&names, 0x1000, 0x010, "third", 30);
	assert_int_equal(jit_names_sort(&names), 0);
	assert_string_equal(name_at(&names, 0x1008, 10), "first");
	assert_string_equal(name_at(&names, 0x1008, 19), "first");
	assert_string_equal(name_at(&names, 0x1008, 20), "second");
	assert_string_equal(name_at(&names, 0x1008, NOW), "third");
	assert_string_equal(name_at(&names, 0x1010, NOW), "second");
	assert_string_equal(name_at(&names, 0x12ff, NOW), "second");
	assert_string_equal(name_at(&names, 0x1300, NOW), "");
	jit_names_done(&names);
}

/* What was sampled before its name came has the first one that came. */
static void a_name_that_comes_late(void **state)
{
	struct jit_names names = { 0 };

	(void)state;
	assert_int_equal(jit_names_version(&names, 0x1000, 5), 0);
	add(&names, 0x1000, 0x10, "first", 10);
	add(&names, 0x1000, 0x10, "second", 20);
	assert_int_equal(jit_names_sort(&names), 0);
	assert_int_equal(jit_names_version(&names, 0x1000, 5), 0);
	assert_string_equal(name_at(&names, 0x1000, 5), "first");
	jit_names_done(&names);
}

static void code_of_no_size(void **state)
{
	struct jit_names names = { 0 };

	(void)state;
	assert_int_not_equal(jit_names_add(&names, 0x1000, 0, "nothing", 0), 0);
	assert_int_not_equal(jit_names_add(&names, 0x1000, UINT64_MAX, "all", 0), 0);
	assert_int_equal(jit_names_sort(&names), 0);
	assert_string_equal(name_at(&names, 0x1000, NOW), "");
	jit_names_done(&names);
}

/* A file that is written while it is read. */
struct growing {
	char path[128];
	int fd;
	struct jit_names names;
};

static void write_all(int fd, const void *bytes, size_t size)
{
	assert_int_equal(write(fd, bytes, size), size);
}

static void say(const struct growing *self, const char *text)
{
	write_all(self->fd, text, strlen(text));
}

static int make_map(void **state)
{
	struct growing *self = test_calloc(1, sizeof(*self));

	snprintf(self->path, sizeof(self->path), "/tmp/perf-%d.map", (int)getpid());
	unlink(self->path);
	self->fd = open(self->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	*state = self;
	return self->fd < 0;
}

static int drop_file(void **state)
{
	struct growing *self = *state;

	unlink(self->path);
	close(self->fd);
	jit_names_done(&self->names);
	test_free(self);
	return 0;
}

static void a_map_that_grows(void **state)
{
	struct growing *self = *state;
	struct perf_map map = { 0 };

	say(self, "1000 10 one\n0x2000 0x20 two words\nnonsense\n3000 10\n4000 zz x\n5000 1");
	assert_int_equal(perf_map_follow(&map, getpid(), &self->names), 0);
	assert_string_equal(name_at(&self->names, 0x100f, NOW), "one");
	assert_string_equal(name_at(&self->names, 0x201f, NOW), "two words");
	assert_int_equal(self->names.count, 2);
	say(self, "0 torn\n1000 8 again\n");
	unlink(self->path); /* it is open */
	assert_int_equal(perf_map_read(&map, &self->names), 0);
	assert_string_equal(name_at(&self->names, 0x5000, NOW), "torn");
	assert_string_equal(name_at(&self->names, 0x1000, NOW), "again");
	assert_string_equal(name_at(&self->names, 0x1000, 0), "one");
	assert_int_equal(perf_map_read(&map, &self->names), 0);
	assert_int_equal(self->names.count, 4);
	perf_map_close(&map);
}

/* As Java does it: the same file, with other lines in it. */
static void a_map_that_is_written_anew(void **state)
{
	struct growing *self = *state;
	struct perf_map map = { 0 };

	say(self, "1000 10 one\n");
	assert_int_equal(perf_map_follow(&map, getpid(), &self->names), 0);
	assert_int_equal(ftruncate(self->fd, 0), 0);
	assert_int_equal(lseek(self->fd, 0, SEEK_SET), 0);
	say(self, "7f0000001000 10 long\n2000 10 two\n");
	assert_int_equal(perf_map_read(&map, &self->names), 0);
	assert_string_equal(name_at(&self->names, 0x7f0000001000, NOW), "long");
	assert_string_equal(name_at(&self->names, 0x2000, NOW), "two");
	assert_int_equal(self->names.count, 3);
	perf_map_close(&map);
}

static void a_map_that_is_a_link(void **state)
{
	struct growing *self = *state;
	struct perf_map map = { 0 };
	char other[160];

	snprintf(other, sizeof(other), "%s.other", self->path);
	assert_int_equal(rename(self->path, other), 0);
	assert_int_equal(symlink(other, self->path), 0);
	say(self, "1000 10 one\n");
	assert_true(perf_map_follow(&map, getpid(), &self->names) < 0);
	unlink(self->path);
	assert_int_equal(link(other, self->path), 0);
	assert_true(perf_map_follow(&map, getpid(), &self->names) < 0);
	unlink(other);
	assert_int_equal(perf_map_follow(&map, getpid(), &self->names), 0);
	assert_int_equal(self->names.count, 1);
	perf_map_close(&map);
}

/* Whoever waits at its other end must not notice us; a device might do worse. */
static void a_map_that_is_a_pipe(void **state)
{
	struct growing *self = *state;
	struct perf_map map = { 0 };
	char event[256];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	unlink(self->path);
	assert_int_equal(mkfifo(self->path, 0600), 0);
	assert_true(inotify_add_watch(watch, self->path, IN_OPEN) >= 0);
	assert_int_equal(perf_map_follow(&map, getpid(), &self->names), -EINVAL);
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	close(watch);
}

static void a_map_of_somebody_else(void **state)
{
	struct growing *self = *state;
	struct perf_map map = { 0 };

	if (geteuid())
		skip();
	assert_int_equal(fchown(self->fd, 65534, 65534), 0);
	assert_int_equal(perf_map_follow(&map, getpid(), &self->names), -EACCES);
	perf_map_close(&map);
}

static void a_map_of_an_earlier_process(void **state)
{
	struct growing *self = *state;
	const struct timespec long_ago[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
	struct perf_map map = { 0 };

	say(self, "1000 10 one\n");
	assert_int_equal(futimens(self->fd, long_ago), 0);
	assert_int_equal(perf_map_follow(&map, getpid(), &self->names), -ENOENT);
	perf_map_close(&map);
}

/* ---- jitdump ---- */

struct load {
	uint32_t kind, size;
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t vma, address, code_size, number;
	char name[8], code[16];
};

struct move {
	uint32_t kind, size;
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t vma, from, to, code_size, number;
};

static void put_head(const struct growing *self, uint64_t flags)
{
	const struct {
		uint32_t magic, version, size, machine, unused, pid;
		uint64_t time_ns, flags;
	} head = {
		0x4a695444,
		1,
		40,
#if defined(__x86_64__)
		62,
#else
		183,
#endif
		0,
		0,
		0,
		flags
	};

	write_all(self->fd, &head, sizeof(head));
}

static struct load load_of(uint64_t time_ns, uint64_t address, const char *name)
{
	struct load load = { .size = sizeof(load),
			     .time_ns = time_ns,
			     .vma = address,
			     .address = address,
			     .code_size = sizeof(load.code) };

	snprintf(load.name, sizeof(load.name), "%s", name);
	return load;
}

static int make_dump(void **state)
{
	struct growing *self = test_calloc(1, sizeof(*self));

	self->fd = memfd_create("dump", MFD_CLOEXEC);
	*state = self;
	return self->fd < 0;
}

static void records_of_a_dump(void **state)
{
	struct growing *self = *state;
	struct load one = load_of(100, 0x1000, "one"), two = load_of(200, 0x1000, "two");
	struct move move = { .kind = 1,
			     .size = sizeof(move),
			     .time_ns = 300,
			     .from = 0x1000,
			     .to = 0x9000,
			     .code_size = 16 };
	const uint32_t unwinding[] = { 4, 24, 0, 0, 7, 7 }, other[] = { 77, 16, 0, 0 };
	struct jitdump dump = { .fd = dup(self->fd) };

	put_head(self, 0);
	write_all(self->fd, &one, sizeof(one));
	write_all(self->fd, unwinding, sizeof(unwinding));
	write_all(self->fd, other, sizeof(other));
	write_all(self->fd, &two, 40); /* torn */
	assert_int_equal(jitdump_read(&dump, &self->names), 0);
	assert_int_equal(self->names.count, 1);
	write_all(self->fd, (const char *)&two + 40, sizeof(two) - 40);
	write_all(self->fd, &move, sizeof(move));
	assert_int_equal(jitdump_read(&dump, &self->names), 0);
	assert_string_equal(name_at(&self->names, 0x100f, 199), "one");
	assert_string_equal(name_at(&self->names, 0x100f, 200), "two");
	assert_string_equal(name_at(&self->names, 0x9000, NOW), "two");
	jitdump_close(&dump);
}

static void a_dump_that_is_closed(void **state)
{
	struct growing *self = *state;
	const uint32_t end[] = { 3, 16, 0, 0 };
	struct load late = load_of(100, 0x1000, "late");
	struct jitdump dump = { .fd = dup(self->fd) };

	put_head(self, 0);
	write_all(self->fd, end, sizeof(end));
	write_all(self->fd, &late, sizeof(late));
	assert_int_equal(jitdump_read(&dump, &self->names), 0);
	assert_true(dump.is_over);
	assert_int_equal(self->names.count, 0);
	jitdump_close(&dump);
}

static void a_dump_of_nonsense(void **state)
{
	struct growing *self = *state;
	const uint32_t record[] = { 0, 4, 0, 0 };
	struct jitdump dump = { .fd = dup(self->fd) };

	put_head(self, 0);
	write_all(self->fd, record, sizeof(record));
	assert_int_equal(jitdump_read(&dump, &self->names), -EBADMSG);
	assert_int_equal(jitdump_read(&dump, &self->names), 0);
	jitdump_close(&dump);
}

/* Each record is far behind the one before it, and costs us a whole look. */
static void a_dump_without_end(void **state)
{
	const uint32_t distance = 300u << 10, count = 4200;
	struct growing *self = *state;
	struct load load = load_of(100, 0x1000, "one");
	struct jitdump dump = { .fd = dup(self->fd) };

	put_head(self, 0);
	load.size = distance;
	for (uint32_t i = 0; i < count; i++) {
		load.address = 0x1000 + 0x100 * i;
		assert_int_equal(pwrite(self->fd, &load, sizeof(load), 40 + (off_t)distance * i),
				 sizeof(load));
	}
	assert_int_equal(ftruncate(self->fd, 40 + (off_t)distance * count), 0);
	assert_int_equal(jitdump_read(&dump, &self->names), 0);
	assert_true(dump.is_over);
	assert_in_range(self->names.count, 1000, count - 1);
	jitdump_close(&dump);
}

/* Times of another clock say nothing: it is the time of reading. */
static void a_dump_with_a_clock_of_its_own(void **state)
{
	struct growing *self = *state;
	struct load load = load_of(UINT64_MAX - 1, 0x1000, "one");
	struct jitdump dump = { .fd = dup(self->fd) };

	put_head(self, 1);
	write_all(self->fd, &load, sizeof(load));
	assert_int_equal(jitdump_read(&dump, &self->names), 0);
	assert_string_equal(name_at(&self->names, 0x1000, 1), "one");
	assert_int_not_equal(jit_names_version(&self->names, 0x1000, 1), 0);
	jitdump_close(&dump);
}

static void a_dump_is_found_by_its_mapping(void **state)
{
	struct load load = load_of(100, 0x1000, "one");
	struct growing self = { 0 };
	struct jitdump dump = { 0 };
	char folder[] = "/tmp/jitdump-XXXXXX";
	void *page;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(self.path, sizeof(self.path), "%s/jit-%d.dump", folder, (int)getpid());
	self.fd = open(self.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	put_head(&self, 0);
	write_all(self.fd, &load, sizeof(load));
	assert_int_equal(jitdump_follow(&dump, getpid(), &self.names), -ENOENT);
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, self.fd, 0);
	assert_true(page != MAP_FAILED);
	assert_int_equal(jitdump_follow(&dump, getpid(), &self.names), 0);
	assert_string_equal(name_at(&self.names, 0x1000, NOW), "one");
	munmap(page, 4096);
	unlink(self.path);
	rmdir(folder);
	close(self.fd);
	jit_names_done(&self.names);
	jitdump_close(&dump);
}

#define WITH_MAP(test)  cmocka_unit_test_setup_teardown(test, make_map, drop_file)
#define WITH_DUMP(test) cmocka_unit_test_setup_teardown(test, make_dump, drop_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_that_is_used_again),
		cmocka_unit_test(a_name_that_comes_late),
		cmocka_unit_test(code_of_no_size),
		WITH_MAP(a_map_that_grows),
		WITH_MAP(a_map_that_is_written_anew),
		WITH_MAP(a_map_that_is_a_link),
		WITH_MAP(a_map_that_is_a_pipe),
		WITH_MAP(a_map_of_somebody_else),
		WITH_MAP(a_map_of_an_earlier_process),
		WITH_DUMP(records_of_a_dump),
		WITH_DUMP(a_dump_that_is_closed),
		WITH_DUMP(a_dump_of_nonsense),
		WITH_DUMP(a_dump_without_end),
		WITH_DUMP(a_dump_with_a_clock_of_its_own),
		cmocka_unit_test(a_dump_is_found_by_its_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
