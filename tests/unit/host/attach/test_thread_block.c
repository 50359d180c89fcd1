/*
 * The made-up thread block, for a child of ours: what stands in it is compared with the block of
 * this very thread, which the same libc made.
 */
#include "unit.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/attach/attachment.h"
#include "host/attach/facts/facts.h"
#include "host/core/cleanup.h"
#include "shared/arch/elf.h"

#define REGION      0x7f0000000000ull
#define DTV_LENGTH  500
#define UNALLOCATED UINT64_MAX

/* A variable of the program's own, which must come along with its first value. */
static __thread volatile uint64_t marker = 0x5ca1ab1e0ddba11;

static struct target target;
static struct modules modules;
static struct facts facts;
static struct job job;
static pid_t child;

static int open_child(void **state)
{
	struct err err;

	(void)state;
	memset(&job, 0, sizeof(job));
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	if (target_open(&target, child, &err) || modules_read(&target, &modules, &err))
		return -1;
	return facts_read(&target, &modules, &facts, &err);
}

static int close_child(void **state)
{
	(void)state;
	modules_done(&modules);
	target_close(&target);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}

/* As the injector does when it knows where the region is. */
static void apply_fixups(void)
{
	for (uint32_t i = 0; i < job.fixup_count; i++) {
		uint64_t word;

		assert_true(job.fixups[i].offset % 8 == 0);
		assert_true(job.fixups[i].offset + 8 <= job.image_size);
		memcpy(&word, job.image + job.fixups[i].offset, sizeof(word));
		word += REGION;
		memcpy(job.image + job.fixups[i].offset, &word, sizeof(word));
	}
}

/* What the starter would read at an address of its own. */
static uint64_t word_at(uint64_t address)
{
	uint64_t word;

	assert_true(address >= REGION + REGION_DATA);
	assert_true(address + 8 <= REGION + REGION_DATA + job.image_size);
	memcpy(&word, job.image + (address - REGION - REGION_DATA), sizeof(word));
	return word;
}

static uint64_t build(void)
{
	struct err err;

	assert_int_equal(image_build(&target, &modules, &facts, &job, &err), 0);
	apply_fixups();
	return REGION + job.thread_pointer;
}

static void finds_the_functions_of_libc(void **state)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

	(void)state;
	assert_int_equal(facts.way, BOOT_WAY_THREAD);
	assert_int_equal(facts.libc.pthread_create, (uintptr_t)dlsym(libc, "pthread_create"));
	assert_int_equal(facts.libc.dlopen, (uintptr_t)dlsym(libc, "dlopen"));
	assert_int_equal(facts.libc.dlclose, (uintptr_t)dlsym(libc, "dlclose"));
	assert_memory_equal((void *)(uintptr_t)facts.places.syscall_return, ARCH_SYSCALL_RETURN,
			    sizeof(ARCH_SYSCALL_RETURN) - 1);
	assert_memory_equal((void *)(uintptr_t)facts.thread_exit, ARCH_THREAD_EXIT,
			    sizeof(ARCH_THREAD_EXIT) - 1);
	assert_memory_equal((void *)(uintptr_t)facts.job.sigreturn, ARCH_SIGRETURN,
			    sizeof(ARCH_SIGRETURN) - 1);
	assert_int_equal(facts.open_signals, 1ull << 31 | 1ull << 32);
	dlclose(libc);
}

static void lays_the_start_words_and_the_context(void **state)
{
	uint64_t context = REGION + REGION_DATA + DATA_CONTEXT;
	struct boot_context boot;

	(void)state;
	build();
	assert_int_equal(word_at(REGION + REGION_DATA + DATA_START_WORDS), context);
	memcpy(&boot, job.image + DATA_CONTEXT, sizeof(boot));
	assert_true(boot.magic == BOOT_MAGIC);
	assert_int_equal(boot.region, REGION);
	assert_int_equal(boot.libc.dlsym, facts.libc.dlsym);
	assert_int_equal(boot.step, BOOT_WRITTEN);
	assert_int_equal(boot.thread_pointer, job.thread_pointer);
	assert_int_equal(boot.tid_word, job.tid_word);
	assert_int_equal(boot.host_pid, getpid());
}

static void names_no_host_that_the_target_cannot_see(void **state)
{
	struct boot_context boot;

	(void)state;
	target.process.namespaces.pid = SAME_NO;
	build();
	memcpy(&boot, job.image + DATA_CONTEXT, sizeof(boot));
	assert_int_equal(boot.host_pid, 0);
}

/* The same distance from the thread pointer as in this thread. */
static void finds_the_thread_number_where_libc_keeps_it(void **state)
{
	int64_t distance;
	pid_t tid;

	(void)state;
	build();
	distance = (int64_t)job.tid_word - (int64_t)job.thread_pointer;
	memcpy(&tid, (char *)__builtin_thread_pointer() + distance, sizeof(tid));
	assert_int_equal(tid, syscall(SYS_gettid));
	assert_in_range(job.tid_word, REGION_DATA + DATA_THREAD, REGION_DATA + job.image_size - 4);
}

static void gives_variables_their_first_values(void **state)
{
	uint64_t pointer = build();
	int64_t distance = (char *)(uintptr_t)&marker - (char *)__builtin_thread_pointer();

	(void)state;
	assert_int_equal(pointer % 64, 0);
	assert_true(facts.has_tls_offsets);
	marker = 1; /* not what stands here now, but what a new thread would find */
	assert_true(word_at(pointer + (uint64_t)distance) == 0x5ca1ab1e0ddba11);
}

static void gives_libc_its_first_values(void **state)
{
	const struct module *libc = modules_at(&modules, target.process.libc.base);
	uint64_t pointer = build();
	const unsigned char *tls =
		job.image + (pointer - REGION - REGION_DATA) + facts.libc_tls_offset;

	(void)state;
	assert_non_null(libc);
	assert_true(libc->image.tls_memory_size > 0);
	assert_memory_equal(tls, (void *)(uintptr_t)libc->image.tls_image,
			    libc->image.tls_file_size);
}

/* On x86-64 malloc and free of every glibc decide by it whether a cmpxchg needs its lock. */
static void threads_are_told_of_others_in_their_own_blocks(void **state)
{
	struct target newer = target;
	struct facts told;
	struct err err;

	(void)state;
	newer.process.libc.minor = 41;
	assert_int_equal(facts_read(&newer, &modules, &told, &err), 0);
	assert_int_equal(told.job.has_flag_in_block, !ARCH_TLS_ABOVE);
}

/* libc must believe that there is nothing to grow and nothing to free. */
static void makes_a_vector_that_never_grows(void **state)
{
	uint64_t pointer = build(), vector = word_at(pointer + (ARCH_TLS_ABOVE ? 0 : 8));

	(void)state;
	assert_int_equal(word_at(vector - 16), DTV_LENGTH);
	assert_int_equal(word_at(vector), 0); /* generation */
	for (uint64_t i = 1; i <= DTV_LENGTH; i++) {
		assert_true(word_at(vector + 16 * i) == UNALLOCATED);
		assert_int_equal(word_at(vector + 16 * i + 8), 0);
	}
	if (!ARCH_TLS_ABOVE) {
		assert_int_equal(word_at(pointer), pointer);
		assert_int_equal(word_at(pointer + 16), pointer);
		assert_int_equal(job.guard_offset + REGION_DATA,
				 job.thread_pointer + ARCH_GUARD_OFFSET);
	}
}

static void refuses_more_than_the_region_holds(void **state)
{
	struct facts large = facts;
	struct err err;

	(void)state;
	large.block_size = REGION_DATA_SIZE;
	assert_true(image_build(&target, &modules, &large, &job, &err) < 0);
	assert_int_equal(err.exit, EXIT_NOT_ATTACHABLE);
}

static void needs_no_block_where_the_thread_calls_itself(void **state)
{
	struct facts musl = facts;
	struct err err;

	(void)state;
	musl.way = BOOT_WAY_CALL;
	assert_int_equal(image_build(&target, &modules, &musl, &job, &err), 0);
	assert_int_equal(job.image_size, DATA_THREAD);
	assert_int_equal(job.thread_pointer, 0);
}

static void keeps_what_the_first_visit_left(void **state)
{
	const struct boot_context old = { .region = REGION,
					  .agent_handle = 1,
					  .agent_entry = 2,
					  .starter_has_data = 1,
					  .thread_pointer = 3,
					  .tid_word = 4 };
	struct boot_context boot;

	(void)state;
	image_build_again(&target, &facts, &old, &job);
	assert_int_equal(job.mode, JOB_AGAIN);
	assert_int_equal(job.region, REGION);
	assert_int_equal(job.image_size, DATA_FORKS); /* handlers of forks use what follows */
	assert_true(job.thread_pointer == 3 && job.tid_word == 4);
	apply_fixups();
	memcpy(&boot, job.image + DATA_CONTEXT, sizeof(boot));
	assert_int_equal(boot.region, REGION);
	assert_true(boot.agent_handle == 1 && boot.agent_entry == 2 && boot.starter_has_data == 1);
	assert_int_equal(boot.step, BOOT_WRITTEN);
}

#define WITH_CHILD(test) cmocka_unit_test_setup_teardown(test, open_child, close_child)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CHILD(finds_the_functions_of_libc),
		WITH_CHILD(lays_the_start_words_and_the_context),
		WITH_CHILD(names_no_host_that_the_target_cannot_see),
		WITH_CHILD(finds_the_thread_number_where_libc_keeps_it),
		WITH_CHILD(gives_variables_their_first_values),
		WITH_CHILD(gives_libc_its_first_values),
		WITH_CHILD(threads_are_told_of_others_in_their_own_blocks),
		WITH_CHILD(makes_a_vector_that_never_grows),
		WITH_CHILD(refuses_more_than_the_region_holds),
		WITH_CHILD(needs_no_block_where_the_thread_calls_itself),
		WITH_CHILD(keeps_what_the_first_visit_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
