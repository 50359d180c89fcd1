/*
 * The loop of a workload that makes one system call for ever, and how its results are counted.  In
 * a header, so that each program is one file beside workload.c.
 */
#pragma once

#include "workload.h"

#include <errno.h>
#include <time.h>

#define TIMEOUT_MS 40
#define TIMEOUT_NS (TIMEOUT_MS * NS_PER_MS)
#define WAKE_NS    (40 * NS_PER_MS)

struct call {
	const char *name;
	void (*prepare)(void);
	/* One call: 0 for the expected end, else -errno. */
	int (*once)(void);
	uint64_t timeout_ns; /* 0: the companion ends the call */
};

static const struct timespec timeout = { 0, TIMEOUT_NS };

static inline int wait_result(long result, int timed_out_code)
{
	if (result == 0)
		return 0;
	if (result < 0 && errno == timed_out_code)
		return 0;
	return result < 0 ? -errno : -EPROTO;
}

static inline int byte_result(ssize_t result, ssize_t expected)
{
	if (result == expected)
		return 0;
	return result < 0 ? -errno : -EPROTO;
}

static inline void result_count(const char *name, int result)
{
	if (result == 0)
		return;
	if (result == -EINTR) {
		atomic_fetch_add(&stats->eintr, 1);
		return;
	}
	errno = -result;
	workload_fail(name);
}

/* Socket timeouts are counted in ticks of up to 10 ms; a cut wait is mostly off by more. */
static inline void time_check(uint64_t took_ns, uint64_t asked_ns)
{
	if (took_ns + 10 * NS_PER_MS < asked_ns)
		atomic_fetch_add(&stats->early, 1);
	if (took_ns > asked_ns && took_ns - asked_ns > atomic_load(&stats->max_late_ns))
		atomic_store(&stats->max_late_ns, took_ns - asked_ns);
}

static inline void call_run(const void *data)
{
	const struct call *call = data;

	if (call->prepare)
		call->prepare();
	workload_ready();
	for (;;) {
		uint64_t start = now_ns();
		int result = call->once();

		result_count(call->name, result);
		if (call->timeout_ns && result == 0)
			time_check(now_ns() - start, call->timeout_ns);
		workload_turn();
	}
}

#define CALL(id, prepare, timeout_ns)                       \
	{                                                   \
#id, call_run, &(const struct call)         \
		{                                           \
#id, prepare, id##_once, timeout_ns \
		}                                           \
	}
