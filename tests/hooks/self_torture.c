/*
 * The torture of torture.c in one process that traces itself: results hooked and unhooked, and the
 * number of calls that were written down.
 *
 *	self_torture TRACER ROUNDS_LIBRARY...
 */
#include "rounds.h"
#include "selftrace.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

#define SEEDS 200

typedef uint64_t round_function(uint64_t);

static uint64_t count_calls(void)
{
	static const char *const prefixes[] = { "" };

	return selftrace_drain(prefixes[0]);
}

static int compare(round_function *run, const uint64_t *expected)
{
	int wrong = 0;

	for (uint64_t i = 0; i < SEEDS; i++)
		wrong += run(i) != expected[i];
	return wrong;
}

static int torture(const char *tracer, const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY);
	round_function *run = handle ? (round_function *)dlsym(handle, "round_of") : NULL;
	uint64_t expected[SEEDS], calls;
	int wrong, again;

	if (!run || selftrace_start(tracer, "function=libcallees.so:*;address-entries")) {
		printf("%s: cannot start\n", path);
		return 1;
	}
	calls = selftrace_drain("");
	for (uint64_t i = 0; i < SEEDS; i++)
		expected[i] = run(i); /* the first time, through the loader where it binds late */
	calls = count_calls();
	selftrace_stop();
	wrong = compare(run, expected);
	if (selftrace_start(tracer, "function=*:*;address-entries"))
		return 1;
	again = compare(run, expected);
	selftrace_stop();
	printf("%s: %d and %d of %d rounds wrong, %" PRIu64
	       " calls seen of %d; %u words, %u foreign\n",
	       path, wrong, again, SEEDS, calls, SEEDS * ROUND_CALLS,
	       selftrace_rings()->words_hooked, selftrace_rings()->words_foreign);
	return wrong || again || calls != SEEDS * ROUND_CALLS;
}

int main(int argc, char **argv)
{
	int failed = argc < 3;

	for (int i = 2; i < argc; i++)
		failed += torture(argv[1], argv[i]);
	return !!failed;
}
