/*
 * Calls through API tables that lead to limpet: their arguments, and which call a thread is in.
 */
#include "unit.h"

#include "target/amd/engine.h"
#include "target/amd/events/events.h"
#include "target/amd/policy.h"
#include "target/amd/registry.h"
#include "target/amd/tables/intercept.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define SLOTS      477
#define RCCL_SLOTS 37
#define LAUNCH     api_function(&api_tables[API_HIP], "hipLaunchKernel")
#define LEAVE      api_function(&api_tables[API_HIP], "hipCtxDestroy")
#define JOIN       api_function(&api_tables[API_RCCL], "ncclCommInitRank")

struct table {
	uint64_t size;
	void *slots[SLOTS];
};
static struct table hip, rccl;

/* As in HIP and RCCL: three sizes in two registers; more than registers and the usual window of
 * the stack can hold. */
struct dim3 {
	uint32_t x, y, z;
};
struct unique_id {
	uint64_t words[16];
};

static const struct call_frame *seen_inside;
static uint64_t seen_stream, written;

static const struct call_frame *frame_now(void)
{
	const struct call_thread *thread = call_thread_mine();
	uint64_t here = (uint64_t)__builtin_frame_address(0);
	const struct thread_call *call = call_thread_around(thread, here);

	return call ? call_thread_frame(call, here) : NULL;
}

static int64_t launch(const void *function, struct dim3 grid, struct dim3 block, void **arguments,
		      size_t shared, void *stream)
{
	seen_inside = frame_now();
	seen_stream = seen_inside ? call_argument(seen_inside, 7) : 0;
	return function && !arguments ? grid.x + 10 * grid.y + 100 * grid.z + 1000 * block.x +
						10000 * block.y + 100000 * block.z +
						1000000 * (int64_t)shared + (stream ? 5000000 : 0)
				      : -1;
}

static int64_t join(void **comm, int ranks, struct unique_id id, int rank)
{
	int64_t sum = comm ? 0 : ranks + rank;

	for (unsigned i = 0; i < 16; i++)
		sum = sum * 3 + (int64_t)id.words[i];
	return sum;
}

static int any(void)
{
	return 0;
}

static jmp_buf out;

static int64_t leave(const void *function)
{
	longjmp(out, function ? 2 : 1);
}

static bool wants(enum trace_domain domain)
{
	return domain == DOMAIN_KERNEL;
}

static void call_write(const struct call_frame *frame, uint64_t end)
{
	assert_true(end >= frame->begin);
	written++;
}

static bool announce(const struct call_slot *slot)
{
	(void)slot;
	return true;
}

static void fill(struct table *table, unsigned count)
{
	table->size = 8 + 8 * count;
	for (unsigned i = 0; i < count; i++)
		table->slots[i] = (void *)any;
}

static int setup(void **state)
{
	static const struct amd_sink ring = { .size = sizeof(ring),
					      .wants = wants,
					      .call = call_write };
	struct boot_libc libc = { .dlopen = (uint64_t)dlopen,
				  .dlclose = (uint64_t)dlclose,
				  .dlsym = (uint64_t)dlsym };
	struct intercept_counts counts;
	void *parts[1] = { &hip };

	(void)state;
	agent_page.pid = getpid();
	libc_calls_use(&libc, NULL);
	if (!sdk_prepare(&libc))
		return -1;
	fill(&hip, SLOTS);
	fill(&rccl, RCCL_SLOTS);
	hip.slots[LAUNCH] = (void *)launch;
	hip.slots[LEAVE] = (void *)leave;
	rccl.slots[JOIN] = (void *)join;
	assert_int_equal(tables_note("hip", 0, 0, parts, 1), 0);
	parts[0] = &rccl;
	assert_int_equal(tables_note("rccl", 0, 0, parts, 1), 0);
	policy_use_ring(&(struct policy_ring){
		DOMAIN_BIT(HIP_RUNTIME) | DOMAIN_BIT(RCCL) | DOMAIN_BIT(KERNEL), announce });
	events_use_ring(&ring);
	intercept_install(&counts);
	assert_int_equal(policy_announce(&counts), SLOTS + RCCL_SLOTS);
	return 0;
}

static int teardown(void **state)
{
	struct intercept_counts counts;

	(void)state;
	policy_use_ring(&(struct policy_ring){ 0, NULL });
	intercept_install(&counts);
	assert_int_equal(counts.restored, SLOTS + RCCL_SLOTS);
	assert_ptr_equal(hip.slots[LAUNCH], launch);
	events_use_ring(NULL);
	return 0;
}

static int64_t launch_through_table(const void *function, struct dim3 grid, struct dim3 block,
				    size_t shared, void *stream)
{
	return ((__typeof__(&launch))hip.slots[LAUNCH])(function, grid, block, NULL, shared,
							stream);
}

static void structures_by_value_arrive(void **state)
{
	struct dim3 grid = { 1, 2, 3 }, block = { 4, 5, 6 };
	struct unique_id id;

	(void)state;
	for (unsigned i = 0; i < 16; i++)
		id.words[i] = i * i + 1;
	assert_int_equal(launch_through_table(&hip, grid, block, 7, &hip), 12654321);
	assert_int_equal(((__typeof__(&join))rccl.slots[JOIN])(NULL, 2, id, 3),
			 join(NULL, 2, id, 3));
	assert_int_equal(written, 2);
}

static void a_call_is_known_while_it_lasts(void **state)
{
	struct dim3 one = { 1, 1, 1 };

	(void)state;
	written = 0;
	launch_through_table(&hip, one, one, 0, &hip);
	assert_non_null(seen_inside);
	assert_int_equal(seen_stream, (uint64_t)&hip);
	assert_null(frame_now());
	assert_int_equal(written, 1);
	launch(&hip, one, one, NULL, 0, NULL);
	assert_null(seen_inside);
}

/* Where the call was that was left, something else is by now.  A sanitizer would leave a gap beside
 * the array, in which the call could still be seen as it was. */
static __attribute__((noinline, no_sanitize("address"))) const struct call_frame *
look_from_below(int byte)
{
	volatile char room[16384];
	const struct call_frame *found;

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = (char)byte;
	found = frame_now();
	return room[0] == (char)byte ? found : NULL;
}

static void leave_through_table(void)
{
	((__typeof__(&leave))hip.slots[LEAVE])(NULL);
}

static void a_call_that_was_left_is_not_known(void **state)
{
	(void)state;
	if (!setjmp(out))
		leave_through_table();
	for (int byte = 0; byte < 256; byte += 15)
		assert_null(look_from_below(byte));
}

/* Its stack lies further up, and is gone. */
static void a_call_on_a_stack_that_is_gone(void **state)
{
	size_t size = 1 << 20;
	char *near = (char *)__builtin_frame_address(0);
	char *stack = mmap(near + (1 << 28), size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ucontext_t context, back;

	(void)state;
	assert_true(stack != MAP_FAILED);
	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = size;
	context.uc_link = &back;
	makecontext(&context, leave_through_table, 0);
	if (!setjmp(out))
		swapcontext(&back, &context);
	munmap(stack, size);
	assert_null(frame_now());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structures_by_value_arrive),
		cmocka_unit_test(a_call_is_known_while_it_lasts),
		cmocka_unit_test(a_call_that_was_left_is_not_known),
		cmocka_unit_test(a_call_on_a_stack_that_is_gone),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
