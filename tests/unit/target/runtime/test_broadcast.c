/*
 * Each place where a thread of ours is made in a target: libc's broadcast of setuid and its like
 * must pass the thread over already before it runs, since on a busy machine that takes a while.  So
 * each thread is held before its first instruction of ours, until it is marked.  One that is later
 * still must be known all the same.
 */
#include "unit.h"

#include "shared/arch/ticks.h"
#include "shared/wire/boot.h"
#include "shared/wire/thread_words.h"
#include "target/bootstrap/entry.h"

#include <pthread.h>

int hold_create(pthread_t *ret, const pthread_attr_t *attributes, void *(*start)(void *),
		void *argument);

/* The register library calls libc's by name. */
#define pthread_create hold_create
#include "compat/register/listener/helper.c"
#undef pthread_create

#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/delivery.h"
#include "target/amd/sinks/sdk/buffers/buffers.h"
#include "target/amd/sinks/sdk/counters/dispatch/results.h"
#include "target/amd/sinks/sdk/notify.h"
#include "target/amd/tables/threads.h"
#include "target/hooks/got/got.h"
#include "target/hooks/thread.h"
#include "target/hooks/writer.h"
#include "target/lifecycle/runner.h"
#include "target/runtime/libc_calls.h"
#include "target/tool/watch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LATE_S 3

/* A thread that was made, and what it is to run; NULL: nothing. */
struct held {
	void *(*start)(void *);
	void *argument;
};

static struct boot_libc functions;
static atomic_uint marked, unmarked;
static bool may_run;
static unsigned late_s; /* so long a thread waits for a processor even then */

void boot_from_call(struct boot_context *boot);

static bool is_marked_thread(void)
{
	uint32_t *flags = (uint32_t *)(thread_pointer() + functions.thread_flags);

	return __atomic_load_n(flags, __ATOMIC_SEQ_CST) & THREAD_FLAG_ENDING;
}

/* As the kernel does it, who lets a thread wait: in a call of libc's it would have other marks. */
static void *hold(void *pointer)
{
	struct timespec slice = { 0, 1000000 };
	struct held held = *(struct held *)pointer;

	free(pointer);
	for (unsigned i = 0; i < PATIENCE_MS && !is_marked_thread(); i++)
		raw2(SYS_nanosleep, &slice, 0);
	sleep(late_s);
	if (is_marked_thread())
		marked++;
	else
		unmarked++;
	return may_run ? held.start(held.argument) : NULL;
}

int hold_create(pthread_t *ret, const pthread_attr_t *attributes, void *(*start)(void *),
		void *argument)
{
	struct held *held = malloc(sizeof(*held));

	*held = (struct held){ start, argument };
	return pthread_create(ret, attributes, hold, held);
}

/* One thread was made, and was marked before it ran. */
static void assert_marked(void)
{
	for (unsigned i = 0; i < 2 * PATIENCE_MS && !marked && !unmarked; i++)
		usleep(1000);
	assert_int_equal(unmarked, 0);
	assert_int_equal(marked, 1);
}

static int prepare(void **state)
{
	(void)state;
	marked = unmarked = 0;
	may_run = true;
	late_s = 0;
	return 0;
}

static void a_thread_of_the_programs_is_not_marked(void **state)
{
	(void)state;
	assert_false(is_marked_thread());
	assert_int_equal((uint64_t)pthread_self(),
			 (uint64_t)(thread_pointer() + functions.thread_block));
}

static void work(void *argument)
{
	*(int *)argument += 1;
}

static void the_thread_of_a_tool_is_marked(void **state)
{
	int argument = 1;

	(void)state;
	assert_int_equal(runner_call(&functions, work, work, &argument, sizeof(argument),
				     TABLE_OF_CALLER, 3 * PATIENCE_MS),
			 0);
	assert_int_equal(argument, 2);
	assert_marked();
}

static void ignore_report(const struct hooks_report *report)
{
	(void)report;
}

static void ignore_look(bool have_modules_changed)
{
	(void)have_modules_changed;
}

static void the_thread_that_watches_is_marked(void **state)
{
	(void)state;
	assert_int_equal(
		watch_start(&functions, &(struct watch_calls){ ignore_report, ignore_look, NULL }),
		0);
	assert_marked();
	watch_stop();
}

static void the_thread_that_delivers_is_marked(void **state)
{
	(void)state;
	assert_int_equal(delivery_begin(0), 0);
	assert_marked();
	for (unsigned i = 0; i < PATIENCE_MS && delivery_stop(0); i++)
		usleep(1000);
	assert_int_equal(delivery_threads(), 0);
	delivery_forget(0);
}

static void a_thread_that_delivers_late_is_known(void **state)
{
	(void)state;
	late_s = LATE_S;
	assert_int_equal(delivery_begin(1), 0);
	assert_int_equal(delivery_threads(), 1);
	for (unsigned i = 0; i < PATIENCE_MS && delivery_stop(1); i++)
		usleep(1000);
	assert_int_equal(delivery_threads(), 0);
}

static void the_control_thread_is_marked(void **state)
{
	static struct boot_context boot;
	void *region = mmap(NULL, REGION_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)state;
	assert_ptr_not_equal(region, MAP_FAILED);
	may_run = false;
	boot = (struct boot_context){ .libc = functions, .region = (uint64_t)region };
	boot_from_call(&boot);
	assert_int_equal(boot.step, BOOT_STARTING);
	assert_marked();
}

static void the_listening_thread_is_marked(void **state)
{
	(void)state;
	helper_start();
	assert_marked();
}

/* What the threads call when they run. */
bool listener_serve_next(struct identity_watch *identity)
{
	(void)identity;
	return false;
}

void listener_prepare(void)
{
}

void listener_forget(void)
{
}

void listener_wake(void)
{
}

void guard_begin(const struct boot_libc *libc_functions, void (*wake)(void))
{
	(void)libc_functions;
	(void)wake;
}

void guard_end(void)
{
}

void registry_forget_passing(void)
{
}

bool switch_listen(void)
{
	return false;
}

void identity_begin(struct identity_watch *self, int32_t origin)
{
	(void)self;
	(void)origin;
}

void got_scan(struct hooks_report *ret, bool reads_code)
{
	(void)reads_code;
	*ret = (struct hooks_report){ 0 };
}

bool got_has_changed(void)
{
	return false;
}

void got_update_modules(void)
{
}

bool writers_are_on(void)
{
	return true;
}

void writer_ignore_me(void)
{
}

void thread_confirm(void)
{
}

int32_t thread_number(void)
{
	return (int32_t)gettid();
}

void buffers_deliver(unsigned thread)
{
	(void)thread;
}

uint64_t dispatch_results_deliver(int tool, unsigned thread)
{
	(void)tool, (void)thread;
	return 0;
}

bool buffers_wait(unsigned thread)
{
	(void)thread;
	return false;
}

int contexts_configuring(void)
{
	return -1;
}

void notify_thread(bool is_made)
{
	(void)is_made;
}

int32_t call_thread_number(void)
{
	return (int32_t)gettid();
}

extern const char boot_begin[];
__attribute__((visibility("hidden"))) const char boot_begin[1];

_Noreturn void boot_leave(uint64_t region, uint64_t size, uint64_t syscall_return,
			  uint64_t thread_exit, uint64_t exit_word)
{
	(void)region;
	(void)size;
	(void)syscall_return;
	(void)thread_exit;
	(void)exit_word;
	abort();
}

long boot_spawn(unsigned long flags, uint64_t stack_top, struct boot_context *boot,
		void (*run)(struct boot_context *))
{
	(void)flags;
	(void)stack_top;
	(void)boot;
	(void)run;
	return -ENOSYS;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_thread_of_the_programs_is_not_marked, prepare),
		cmocka_unit_test_setup(the_thread_of_a_tool_is_marked, prepare),
		cmocka_unit_test_setup(the_thread_that_watches_is_marked, prepare),
		cmocka_unit_test_setup(the_thread_that_delivers_is_marked, prepare),
		cmocka_unit_test_setup(a_thread_that_delivers_late_is_known, prepare),
		cmocka_unit_test_setup(the_control_thread_is_marked, prepare),
		cmocka_unit_test_setup(the_listening_thread_is_marked, prepare),
	};

	libc_functions_find(&functions);
	functions.pthread_create = (uint64_t)hold_create;
	libc_calls_use(&functions, /* shared */ NULL);
	delivery_learn(&functions);
	delivery_prepare(&(struct delivery_work){ dispatch_results_deliver, buffers_deliver,
						  buffers_wait, notify_thread });
	if (!functions.thread_flags)
		return 77; /* libc does not say where a thread's flags are: nothing is marked */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
