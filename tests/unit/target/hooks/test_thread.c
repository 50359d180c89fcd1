/*
 * What is found in libc's thread block: the calling thread's number and the end of its stack.
 */
#include "unit.h"

#include "target/hooks/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES (256u << 10)

static void *thread_teach(void *unused)
{
	thread_learn(__errno_location, /* asks */ false);
	return unused;
}

static void *thread_agree(void *unused)
{
	thread_confirm();
	return unused;
}

static void *run_on(void *(*begin)(void *), const pthread_attr_t *attributes)
{
	pthread_t thread;
	void *answer;

	assert_int_equal(pthread_create(&thread, attributes, begin, NULL), 0);
	assert_int_equal(pthread_join(thread, &answer), 0);
	return answer;
}

static int setup(void **state)
{
	(void)state;
	run_on(thread_teach, NULL);
	run_on(thread_agree, NULL);
	return 0;
}

/* Whether the end is libc's own answer, but for the block and static TLS above it. */
static void *knows_its_stack(void *unused)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0), end = thread_stack_end(here);
	pthread_attr_t attributes;
	void *begin;
	size_t size;

	(void)unused;
	if (thread_number() != gettid() || pthread_getattr_np(pthread_self(), &attributes) ||
	    pthread_attr_getstack(&attributes, &begin, &size))
		return NULL;
	pthread_attr_destroy(&attributes);
	return end > here && end <= (uint64_t)begin + size &&
			       end > (uint64_t)begin + size - 65536 &&
			       !thread_stack_end((uint64_t)begin - 65536) &&
			       !thread_stack_end((uint64_t)begin + size)
		       ? begin
		       : NULL;
}

static void a_thread_knows_where_its_stack_ends(void **state)
{
	(void)state;
	assert_non_null(run_on(knows_its_stack, NULL));
}

static void so_does_one_on_a_stack_of_the_program(void **state)
{
	pthread_attr_t attributes;
	void *stack = aligned_alloc(4096, STACK_BYTES);

	(void)state;
	assert_non_null(stack);
	assert_int_equal(pthread_attr_init(&attributes), 0);
	assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK_BYTES), 0);
	assert_non_null(run_on(knows_its_stack, &attributes));
	pthread_attr_destroy(&attributes);
	free(stack);
}

static void the_first_thread_has_none_here(void **state)
{
	(void)state;
	assert_int_equal(thread_stack_end((uint64_t)__builtin_frame_address(0)), 0);
}

static uint64_t found;

static void stack_look(int number)
{
	(void)number;
	found = thread_stack_end((uint64_t)__builtin_frame_address(0));
}

/* On memory that lies above and below the thread's stack, or in it. */
static void coroutine_look(void *stack)
{
	ucontext_t here, there;

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = STACK_BYTES;
	there.uc_link = &here;
	makecontext(&there, (void (*)(void))stack_look, 1, 0);
	swapcontext(&here, &there);
}

static void *looks_from_a_coroutine(void *unused)
{
	void *stack = malloc(STACK_BYTES);

	found = 1;
	coroutine_look(stack);
	free(stack);
	return found ? unused : &found;
}

static void *looks_from_a_signal(void *unused)
{
	stack_t stack = { .ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES };
	struct sigaction action = { .sa_handler = stack_look, .sa_flags = SA_ONSTACK };

	found = 1;
	if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL) || raise(SIGUSR1))
		return unused;
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
	return found ? unused : &found;
}

static void other_stacks_are_not_taken_for_it(void **state)
{
	(void)state;
	assert_non_null(run_on(looks_from_a_coroutine, NULL));
	assert_non_null(run_on(looks_from_a_signal, NULL));
}

static void nothing_is_known_until_two_threads_agree(void **state)
{
	(void)state;
	run_on(thread_teach, NULL);
	assert_null(run_on(knows_its_stack, NULL));
	run_on(thread_agree, NULL);
	assert_non_null(run_on(knows_its_stack, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_knows_where_its_stack_ends),
		cmocka_unit_test(so_does_one_on_a_stack_of_the_program),
		cmocka_unit_test(the_first_thread_has_none_here),
		cmocka_unit_test(other_stacks_are_not_taken_for_it),
		cmocka_unit_test(nothing_is_known_until_two_threads_agree),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
