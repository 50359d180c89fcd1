/*
 * One mapping holds the order and the thread's stack. The caller, which joins the thread, frees it;
 * if the call has timed out, or the thread does not end, a later caller does.
 */
#include "target/lifecycle/runner.h"

#include "shared/arch/syscall.h"
#include "target/runtime/arena.h"
#include "target/runtime/broadcast.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/mapping.h"
#include "target/runtime/page.h"
#include "target/runtime/starter.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define GUARD_SIZE       0x10000u
#define STACK_SIZE       0x800000u /* as on a main thread: tools expect no less */
#define STACK_SIZE_SMALL 0x80000u
#define ORDER_SIZE       0x10000u
#define NS_PER_S         1000000000ull
#define GLANCE_NS        100000000ull /* interval at which a waiter checks for the process's end */
#define END_PAUSE_NS     20000
#define THREADS_MAX      16 /* one, and timed-out ones */

typedef int join_function(pthread_t, void **);
typedef int sigrtmin_function(void);

enum order_state {
	ORDER_RUNS,
	ORDER_DONE,
	ORDER_GIVEN_UP,
};

struct order {
	struct boot_libc libc;
	void (*work)(void *);
	void (*late)(void *);
	uint32_t state; /* a futex */
	size_t stack_size;
	pthread_t thread;
	int result; /* of pthread_create */
	int32_t tid;
	struct order *next; /* in the list of timed-out ones */
	unsigned char argument[RUNNER_ARGUMENT] __attribute__((aligned(16)));
};

static struct order *given_up;
static int32_t threads[THREADS_MAX];  /* their IDs; 0: free */
static uint32_t is_hurried;           /* the process is ending: no thread waits any more */
static bool (*must_leave)(void);      /* polled by the control thread; NULL: there is none */
static struct boot_context *employer; /* see runner_employ() */

/* libc's own signals: a setuid in another thread waits until every thread has answered these. */
#define LIBC_SIGNALS (3ull << 31) /* 32 and 33 */
#define MUSL_SIGNAL  (1ull << 33) /* 34, which in glibc is SIGRTMIN, an application signal */

/* No application handler may run on a tool's thread, nor on threads that the tool creates: the
 * thread is created with all signals blocked. A caller from inside the process has its own mask. */
static uint64_t block_signals(void)
{
	uint64_t mask = ~LIBC_SIGNALS, old = 0;

	raw4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, &old, sizeof(mask));
	return old;
}

static void open_signals_of_musl(void)
{
	uint64_t mask = MUSL_SIGNAL;
	sigrtmin_function *first =
		(sigrtmin_function *)libc_symbol(RTLD_DEFAULT, "__libc_current_sigrtmin");

	if (first && first() > 34)
		raw4(SYS_rt_sigprocmask, 1 /* SIG_UNBLOCK */, &mask, 0, sizeof(mask));
}

static bool exchange_thread(int32_t from, int32_t to)
{
	for (unsigned i = 0; i < THREADS_MAX; i++) {
		int32_t expected = from;

		/* Relaxed: only the thread itself, or its successors, look its ID up. */
		if (__atomic_compare_exchange_n(&threads[i], &expected, to, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

bool runner_is_thread(int32_t tid)
{
	for (unsigned i = 0; i < THREADS_MAX; i++)
		if (__atomic_load_n(&threads[i], __ATOMIC_RELAXED) == tid)
			return true;
	return false;
}

static void *order_run(void *pointer)
{
	struct order *order = pointer;

	arena_share(&order->libc);
	broadcast_avoid(&order->libc);
	__atomic_store_n(&order->tid, (int32_t)raw0(SYS_gettid), __ATOMIC_RELEASE);
	exchange_thread(0, order->tid);
	open_signals_of_musl();
	raw2(SYS_prctl, PR_SET_NAME, RUNNER_THREAD_NAME);
	order->work(order->argument);
	/* Acquire and release: the thread that sees the new state owns the argument. */
	if (__atomic_exchange_n(&order->state, ORDER_DONE, __ATOMIC_ACQ_REL) == ORDER_GIVEN_UP)
		order->late(order->argument);
	else
		raw3(SYS_futex, &order->state, FUTEX_WAKE_PRIVATE, 1);
	arena_part(&order->libc);
	return NULL;
}

static struct order *map_order(size_t stack_size)
{
	char *memory = memory_map(GUARD_SIZE + stack_size + ORDER_SIZE, MAP_NORESERVE | MAP_STACK);
	struct order *order;

	if (!memory)
		return NULL;
	raw3(SYS_mprotect, memory, GUARD_SIZE, PROT_NONE);
	order = (void *)(memory + GUARD_SIZE + stack_size);
	order->stack_size = stack_size;
	return order;
}

static void free_order(struct order *order)
{
	size_t stack_size = order->stack_size;

	raw2(SYS_munmap, (char *)order - stack_size - GUARD_SIZE,
	     GUARD_SIZE + stack_size + ORDER_SIZE);
}

static void order_begin(void *pointer)
{
	struct order *order = pointer;
	const struct new_thread thread = {
		.stack = (char *)order - order->stack_size,
		.stack_size = order->stack_size,
		.run = order_run,
		.argument = order,
	};
	uint64_t mask = block_signals();

	order->result = broadcast_create(&order->libc, &thread, &order->thread);
	raw4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, 0, sizeof(mask));
}

static bool is_control_thread(void)
{
	return agent_page.control_tid == (int32_t)raw0(SYS_gettid);
}

void runner_employ(struct boot_context *boot)
{
	employer = boot;
}

bool runner_is_apart(void)
{
	return employer && is_control_thread();
}

static int order_start(struct order *order, enum runner_table table)
{
	if (table == TABLE_OF_PROGRAM && runner_is_apart())
		starter_ask(employer, order_begin, order);
	else
		order_begin(order);
	return order->result;
}

void runner_mind(bool (*question)(void))
{
	must_leave = question;
}

/* The control thread must not wait for a tool with rights that the application has given up. Other
 * waiting threads are the application's own. */
static bool has_time(uint64_t now_ns, uint64_t end_ns)
{
	return now_ns < end_ns && !__atomic_load_n(&is_hurried, __ATOMIC_RELAXED) &&
	       !(must_leave && is_control_thread() && must_leave());
}

/* True when the call has returned; false after a timeout, which is stored for the thread. */
static bool order_await(struct order *order, uint64_t end_ns)
{
	uint32_t runs = ORDER_RUNS;

	for (uint64_t now = monotonic_ns(); has_time(now, end_ns); now = monotonic_ns()) {
		struct timespec left = { 0, (long)MIN(end_ns - now, GLANCE_NS) };

		if (__atomic_load_n(&order->state, __ATOMIC_ACQUIRE) == ORDER_DONE)
			return true;
		raw4(SYS_futex, &order->state, FUTEX_WAIT_PRIVATE, ORDER_RUNS, &left);
	}
	return !__atomic_compare_exchange_n(&order->state, &runs, ORDER_GIVEN_UP, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* The kernel no longer knows the thread: it has left the tool's, limpet's and libc's code. */
static bool is_gone(const struct order *order)
{
	int32_t tid = __atomic_load_n(&order->tid, __ATOMIC_ACQUIRE);

	return tid && raw3(SYS_tgkill, raw0(SYS_getpid), tid, 0) == -ESRCH;
}

/* Destructors of a tool's thread-local data may take long. */
static bool await_end(const struct order *order, uint64_t end_ns)
{
	while (!is_gone(order) && has_time(monotonic_ns(), end_ns))
		sleep_ns(END_PAUSE_NS);
	return is_gone(order);
}

static void order_join(const struct boot_libc *libc, struct order *order)
{
	((join_function *)libc->pthread_join)(order->thread, NULL);
	exchange_thread(order->tid, 0);
	free_order(order);
}

static void order_abandon(struct order *order)
{
	order->next = __atomic_load_n(&given_up, __ATOMIC_RELAXED);
	/* Release: pairs with the exchange in runner_collect(); publishes each `next`. */
	while (!__atomic_compare_exchange_n(&given_up, &order->next, order, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

unsigned runner_collect(const struct boot_libc *libc)
{
	struct order *next, *order = __atomic_exchange_n(&given_up, NULL, __ATOMIC_ACQUIRE);
	unsigned staying = 0;

	for (; order; order = next) {
		next = order->next;
		if (is_gone(order)) {
			order_join(libc, order);
			continue;
		}
		order_abandon(order);
		staying++;
	}
	return staying;
}

void runner_hurry(void)
{
	__atomic_store_n(&is_hurried, 1, __ATOMIC_RELAXED);
}

void runner_adopt(void)
{
	given_up = NULL;
	must_leave = NULL;
	employer = NULL;
	is_hurried = 0;
	memset(threads, 0, sizeof(threads));
}

int runner_call(const struct boot_libc *libc, void (*work)(void *), void (*late)(void *),
		void *argument, size_t size, enum runner_table table, uint32_t timeout_ms)
{
	uint64_t end_ns = monotonic_ns() + timeout_ms * 1000000ull;
	struct order *order;
	int r;

	runner_collect(libc);
	order = map_order(STACK_SIZE);
	if (!order) /* a process that locks its memory may exceed RLIMIT_MEMLOCK with that */
		order = map_order(STACK_SIZE_SMALL);
	if (!order)
		return -ENOMEM;
	order->libc = *libc;
	order->work = work;
	order->late = late;
	memcpy(order->argument, argument, size);
	r = order_start(order, table);
	if (r) {
		free_order(order);
		return r;
	}
	if (!order_await(order, end_ns)) {
		order_abandon(order);
		return -ETIMEDOUT;
	}
	memcpy(argument, order->argument, size);
	if (await_end(order, end_ns))
		order_join(libc, order);
	else
		order_abandon(order);
	return 0;
}
