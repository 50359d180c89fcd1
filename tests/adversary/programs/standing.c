/*
 * Stands in a function of its own, deep enough for a stack, and runs.  Linked without libraries and
 * without a build-id, so that tests can turn its file into anything.
 */
#include <stdio.h>

static volatile unsigned long turns;

__attribute__((noinline)) static void stand(void)
{
	for (;;)
		turns++;
}

__attribute__((noinline)) static int lead_to_it(int count)
{
	if (count)
		stand();
	return count + 1;
}

int main(int count, char **words)
{
	(void)words;
	puts("ready");
	fflush(stdout);
	return lead_to_it(count);
}
