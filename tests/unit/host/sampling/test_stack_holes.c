/*
 * Holes in stacks: pages that nobody wrote to, above some that somebody did.
 */
#include "unit.h"

#include "host/sampling/copy/stack_holes.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 64u

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* As a thread's stack lies in memory: behind a guard. */
static char *stack_map_sized(size_t size)
{
	size_t page = page_size();
	char *guard = mmap(NULL, size + 2 * page, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(guard, MAP_FAILED);
	assert_int_equal(mprotect(guard + page, size, PROT_READ | PROT_WRITE), 0);
	(void)madvise(guard + page, size, MADV_NOHUGEPAGE);
	return guard + page;
}

static char *stack_map(void)
{
	return stack_map_sized(PAGES * page_size());
}

/* However slow the machine is. */
static void holes_fill(void)
{
	uint64_t left_ns = 600000000000ull;

	stack_holes_fill(getpid(), -1, &left_ns);
	assert_true(left_ns < 600000000000ull);
}

static bool is_there(const char *stack, unsigned page)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t index = (uint64_t)(uintptr_t)stack / page_size() + page;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &entry, sizeof(entry), (off_t)(index * sizeof(entry))),
			 sizeof(entry));
	close(fd);
	return (entry & (3ull << 62)) != 0;
}

static void fills_what_lies_above_a_page_in_use(void **state)
{
	char *stack = stack_map();

	(void)state;
	stack[10 * page_size()] = 1;
	stack[PAGES * page_size() - 1] = 1;
	assert_false(is_there(stack, 11));
	holes_fill();
	for (unsigned i = 10; i < PAGES; i++)
		assert_true(is_there(stack, i));
	assert_int_equal(stack[10 * page_size()], 1);
	munmap(stack - page_size(), (PAGES + 2) * page_size());
}

static void leaves_what_lies_below_alone(void **state)
{
	char *stack = stack_map();

	(void)state;
	stack[10 * page_size()] = 1;
	holes_fill();
	for (unsigned i = 0; i < 10; i++)
		assert_false(is_there(stack, i));
	munmap(stack - page_size(), (PAGES + 2) * page_size());
}

static void a_stack_that_nobody_used_stays_empty(void **state)
{
	char *stack = stack_map();

	(void)state;
	holes_fill();
	for (unsigned i = 0; i < PAGES; i++)
		assert_false(is_there(stack, i));
	munmap(stack - page_size(), (PAGES + 2) * page_size());
}

static void leaves_all_when_no_time_is_left(void **state)
{
	char *stack = stack_map();
	uint64_t left_ns = 0;

	(void)state;
	stack[10 * page_size()] = 1;
	stack_holes_fill(getpid(), -1, &left_ns);
	assert_int_equal(left_ns, 0);
	assert_false(is_there(stack, 11));
	munmap(stack - page_size(), (PAGES + 2) * page_size());
}

/* The number may be another's by now: here it is ours. */
static void leaves_all_when_the_process_has_ended(void **state)
{
	char *stack = stack_map();
	uint64_t left_ns = STACK_HOLES_NS;
	pid_t child = fork();
	int pidfd;

	(void)state;
	if (!child)
		_exit(0);
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(pidfd >= 0);
	stack[10 * page_size()] = 1;
	stack_holes_fill(getpid(), pidfd, &left_ns);
	assert_false(is_there(stack, 11));
	close(pidfd);
	munmap(stack - page_size(), (PAGES + 2) * page_size());
}

static void an_arena_is_no_stack(void **state)
{
	size_t size = 65u << 20;
	char *arena = stack_map_sized(size);
	unsigned last = (unsigned)(size / page_size()) - 1;

	(void)state;
	arena[(last - 10) * page_size()] = 1;
	holes_fill();
	assert_false(is_there(arena, last));
	munmap(arena - page_size(), size + 2 * page_size());
}

static void stands_a_process_that_is_not_there(void **state)
{
	uint64_t left_ns = STACK_HOLES_NS;

	(void)state;
	stack_holes_fill(1 << 30, -1, &left_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_what_lies_above_a_page_in_use),
		cmocka_unit_test(leaves_what_lies_below_alone),
		cmocka_unit_test(a_stack_that_nobody_used_stays_empty),
		cmocka_unit_test(leaves_all_when_no_time_is_left),
		cmocka_unit_test(leaves_all_when_the_process_has_ended),
		cmocka_unit_test(an_arena_is_no_stack),
		cmocka_unit_test(stands_a_process_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
