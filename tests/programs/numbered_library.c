/*
 * A library of somebody else's: its one function is called with a number and gives back what only
 * the right number gives.
 */
#include "numbered.h"

uint64_t numbered_step(uint64_t number)
{
	return number * NUMBERED_FACTOR + 1;
}
