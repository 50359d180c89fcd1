/*
 * Computes the results of statistics.
 */
#include "host/model/statistics.h"

/* By Newton's method: the math library would be needed for nothing else. */
static double square_root(double value)
{
	double root = value > 1 ? value : 1;

	for (unsigned i = 0; value > 0 && i < 1100; i++) {
		double next = (root + value / root) / 2;

		if (next >= root)
			break;
		root = next;
	}
	return value > 0 ? root : 0;
}

double statistics_deviation_ns(const struct statistics *statistics)
{
	return statistics->calls ? square_root(statistics->squares / (double)statistics->calls) : 0;
}

double statistics_sample_deviation_ns(const struct statistics *statistics)
{
	return statistics->calls > 1
		       ? square_root(statistics->squares / (double)(statistics->calls - 1))
		       : 0;
}

uint64_t share_of(uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)part * 10000 / whole) : 0;
}

double share_tenths(uint64_t part, uint64_t whole)
{
	uint64_t tenths = share_of(part, whole) / 10; /* rounded down */

	return (double)tenths / 10;
}

/* A computed value may be a little below the exact one. */
double share_shown(double percent)
{
	return (double)(int64_t)(percent * 100 + (percent < 0 ? -1e-6 : 1e-6)) / 100;
}
