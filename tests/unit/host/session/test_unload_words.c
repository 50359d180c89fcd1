/*
 * What limpet takes for a way back to the tracer, and for the stack of a thread that has ended.
 * The memory is that of this process.
 */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/session/unload_words.h"
#include "shared/arch/thunk.h"

#define PAGE   4096u
#define WORDS  64u
#define RETURN 16u /* where a traced call returns to, in the code */
#define OTHER  40u

static uint8_t code[64];
static uint64_t words[WORDS];
static struct tracer_code tracer;

static int memory_set_up(void **state)
{
	uint32_t mark = RETURN_MARK;

	(void)state;
	memcpy(code + RETURN + RETURN_MARK_AT, &mark, sizeof(mark));
	tracer.memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	tracer.code.start = tracer.all.start = (uint64_t)(uintptr_t)code;
	tracer.code.end = tracer.all.end = tracer.code.start + sizeof(code);
	return tracer.memory < 0;
}

static int memory_close(void **state)
{
	(void)state;
	return close(tracer.memory);
}

static bool leads_in(void)
{
	uint64_t found;

	return tracer_words_find(&tracer, (uint64_t)(uintptr_t)words, words, WORDS, &found);
}

static void an_address_in_the_code_leads_there(void **state)
{
	(void)state;
	memset(words, 0, sizeof(words));
	assert_false(leads_in());
	words[5] = tracer.code.start + OTHER;
	assert_true(leads_in());
}

static void a_return_leads_there_while_its_frame_is_in_flight(void **state)
{
	uint64_t *in_flight = &words[20], found;

	(void)state;
	memset(words, 0, sizeof(words));
	words[5] = tracer.code.start + RETURN;
	assert_false(leads_in());
	*in_flight = (uint64_t)(uintptr_t)in_flight;
	assert_false(leads_in()); /* any word may hold its own address */
	in_flight[-1] = tracer.code.start + OTHER;
	assert_true(leads_in());
	assert_true(tracer_frame_find(&tracer, (uint64_t)(uintptr_t)words, words, WORDS, &found));
	assert_int_equal(found, (uint64_t)(uintptr_t)in_flight);
}

/* As glibc and musl have them, at the upper end. */
static struct thread_stack find_stack(uint64_t *stack, const uint64_t *stale, bool has_ended)
{
	uint64_t start = (uint64_t)(uintptr_t)stack, *end = stack + 4 * PAGE / sizeof(*stack);
	struct mapping mappings[] = {
		{ .start = start - PAGE, .end = start },
		{ .start = start, .end = start + 4 * PAGE, .readable = true, .writable = true },
	};
	struct maps maps = { .items = mappings, .count = 2 };
	struct thread_stack ret = { 0 };
	uint64_t *list = end - 200, *description = end - 80;

	memcpy(end - 600, stale, 4 * sizeof(*stale));
	list[-2] = has_ended ? 0 : 77;
	list[-1] = list[0] = (uint64_t)(uintptr_t)list;
	list[1] = (uint64_t)-32;
	description[0] = start - PAGE;
	description[1] = 5 * PAGE;
	description[2] = PAGE;
	assert_true(thread_stack_find(tracer.memory, &maps, 1, 0, &ret));
	return ret;
}

/* glibc 2.39 with frame pointers leaves the address, the size and a frame pointer side by side. */
static void numbers_in_a_frame_are_no_description(void **state)
{
	uint64_t *stack =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start = (uint64_t)(uintptr_t)stack;
	uint64_t framed[] = { start - PAGE, 5 * PAGE, start + 3 * PAGE, 0 };
	uint64_t guarded[] = { start - PAGE, 5 * PAGE, PAGE, 0 };

	(void)state;
	assert_true(stack != MAP_FAILED);
	assert_true(find_stack(stack, framed, true).is_free);
	assert_true(find_stack(stack, guarded, true).is_free);
	assert_false(find_stack(stack, framed, false).is_free);
	assert_int_equal(find_stack(stack, framed, true).end, start + 4 * PAGE);
	munmap(stack, 4 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_in_the_code_leads_there),
		cmocka_unit_test(a_return_leads_there_while_its_frame_is_in_flight),
		cmocka_unit_test(numbers_in_a_frame_are_no_description),
	};

	return cmocka_run_group_tests(tests, memory_set_up, memory_close);
}
