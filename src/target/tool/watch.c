/*
 * Sleeps until it is told that the program is in dlopen, or for a fifth of a second: some libraries
 * are loaded by libc itself.  While something is on its way it looks often.
 */
#include "target/tool/watch.h"

#include "shared/arch/syscall.h"
#include "target/hooks/thread.h"
#include "target/hooks/writer.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#define STACK_BYTES 0x40000u
#define THREAD_NAME "limpet-watch"
#define SHORTEST_MS 1u
#define LONGEST_MS  200u

static struct watch_libc functions;
static void (*report_scan)(const struct got_report *);
static void (*look_further)(void);
static pthread_t thread;
static void *stack;
static uint32_t orders; /* a futex; counts what was said to it */
static uint32_t is_over;

void watch_hurry(void)
{
	__atomic_fetch_add(&orders, 1, __ATOMIC_RELEASE);
	raw3(SYS_futex, &orders, FUTEX_WAKE_PRIVATE, 1);
}

/* True when it was told something. */
static bool await(uint32_t *seen, uint32_t delay_ms)
{
	struct timespec limit = { 0, (long)delay_ms * 1000000 };
	uint32_t before = *seen;

	raw4(SYS_futex, &orders, FUTEX_WAIT_PRIVATE, before, &limit);
	*seen = __atomic_load_n(&orders, __ATOMIC_ACQUIRE);
	return *seen != before;
}

static void *watch(void *unused)
{
	struct got_report report = { .is_unsettled = true };
	uint32_t seen = 0, delay_ms = SHORTEST_MS;

	(void)unused;
	writer_ignore_me();
	thread_confirm();
	raw2(SYS_prctl, PR_SET_NAME, THREAD_NAME);
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		bool is_told = await(&seen, delay_ms), has_changed;

		if (__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
			break;
		has_changed = got_has_changed();
		delay_ms = is_told || has_changed ? SHORTEST_MS : MIN(2 * delay_ms, LONGEST_MS);
		if (has_changed || report.is_unsettled) {
			got_scan(&report);
			report_scan(&report);
		}
		look_further();
	}
	return NULL;
}

static int make_thread(void)
{
	pthread_attr_t attributes;

	functions.attr_init(&attributes);
	functions.attr_setstack(&attributes, stack, STACK_BYTES);
	return -functions.create(&thread, &attributes, watch, NULL);
}

static void free_stack(void)
{
	raw2(SYS_munmap, stack, STACK_BYTES);
	stack = NULL;
}

int watch_start(const struct watch_libc *libc, void (*on_scan)(const struct got_report *),
		void (*on_look)(void))
{
	long r = raw6(SYS_mmap, 0, STACK_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (r < 0 && r > -4096)
		return (int)r;
	stack = (void *)r;
	functions = *libc;
	report_scan = on_scan;
	look_further = on_look;
	is_over = orders = 0;
	r = make_thread();
	if (r)
		free_stack();
	return (int)r;
}

void watch_stop(void)
{
	if (!stack)
		return;
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	watch_hurry();
	functions.join(thread, NULL);
	free_stack();
}

void watch_forget(void)
{
	stack = NULL;
}
