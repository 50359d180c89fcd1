/*
 * Functions that have a name of libc's and nothing else in common with it.  Called through the
 * table of imports, since anybody may replace them.
 */
#include "strangers.h"

struct parser {
	long tokens;
};

/* What libc would take for an address and the size of it are small numbers. */
int accept(struct parser *parser, long kind, long value)
{
	parser->tokens += kind;
	return (int)(value & 1);
}

int connect(long left, long right, long weight)
{
	return (int)(left * right + weight);
}

long strangers_meet(void)
{
	struct parser parser = { 0 };
	long sum = 0;

	for (long i = 1; i < 10; i++)
		sum += accept(&parser, i, i) + connect(i, i + 1, 64);
	return sum + parser.tokens;
}

long strangers_count(long more)
{
	static long count;

	return count += more;
}

long strangers_weigh(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,
		     long k, long l, long m, long n, long o, long p, long q, long r, long s, long t)
{
	const long all[] = { a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t };
	long sum = 0;

	for (unsigned at = 0; at < sizeof(all) / sizeof(*all); at++)
		sum += all[at] * (at + 1);
	return sum;
}
