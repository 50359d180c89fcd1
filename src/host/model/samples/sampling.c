/*
 * The estimates from samples of allocations.  The tracer counts bytes down from a random number,
 * exponential with mean R (target/domains/cpu/alloc.c), so a block of s bytes is written with the
 * chance p = 1 - exp(-s / R), independently of all others.  Counting each one that was written as 1
 * / p blocks and s / p bytes gives the right sum on average, whatever the sizes are: small blocks
 * are rare and stand for about R bytes, one much larger than R is always there and stands for
 * itself.  The error of a sum over n samples of small blocks is about 1 / sqrt(n) of it.
 */
#include "host/model/model.h"

/* 1 - exp(-x).  For small x by its series; p(2x) = p(x) (2 - p(x)) leads to large ones.  Nothing
 * is subtracted from nearly the same, and no math library is needed. */
static double sampling_chance(double x)
{
	unsigned doublings = 0;
	double p;

	x = x < 64 ? x : 64; /* where it is 1 to the last digit */
	for (; x > 1.0 / 256; doublings++)
		x /= 2;
	p = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
	while (doublings--)
		p *= 2 - p;
	return p;
}

double sample_blocks(uint64_t size, uint64_t alloc_sample)
{
	return size && alloc_sample ? 1 / sampling_chance((double)size / (double)alloc_sample) : 1;
}

bool call_estimate(const struct call *call, double *ret_blocks, double *ret_bytes)
{
	uint64_t size = 0, address = 0;

	/* Calls without a stack only report the end of a sampled block. */
	if (!call->alloc_sample || !call->has_stack || call->function->domain != DOMAIN_ALLOC ||
	    !call_value(call, VALUE_ADDRESS, &address) || !call_value(call, VALUE_SIZE, &size) ||
	    !size)
		return false;
	*ret_blocks = sample_blocks(size, call->alloc_sample);
	*ret_bytes = (double)size * *ret_blocks;
	return true;
}
