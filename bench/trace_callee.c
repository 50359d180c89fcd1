/*
 * The body of trace_callee.h.
 */
#include "trace_callee.h"

uint64_t trivial(uint64_t a, uint64_t b)
{
	return a * 3 + b;
}
