/*
 * Programs in which a careless hook kills: each does what is allowed, and few do.
 */
#define _GNU_SOURCE
#include "../programs/workload.h"
#include "strangers.h"

#include <stddef.h>

/* A library with functions that are called like libc's. */
static void run_strangers(const void *unused)
{
	long expected = strangers_meet();

	(void)unused;
	workload_ready();
	for (;;) {
		if (strangers_meet() != expected)
			workload_corrupt("a result differs");
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

const struct workload workloads[] = {
	{ "strangers", run_strangers, NULL },
	{ NULL, NULL, NULL },
};
