/*
 * Edit distance between a typed name and the right ones; a swap of neighbours counts as one.
 */
#include "host/core/text/nearest.h"

#include <string.h>

#include "shared/base/macros.h"

#define MAX_LENGTH 32

static size_t word_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t table[MAX_LENGTH + 1][MAX_LENGTH + 1];

	for (size_t i = 0; i <= a_length; i++)
		table[i][0] = i;
	for (size_t j = 0; j <= b_length; j++)
		table[0][j] = j;
	for (size_t i = 1; i <= a_length; i++)
		for (size_t j = 1; j <= b_length; j++) {
			table[i][j] = MIN(MIN(table[i - 1][j], table[i][j - 1]) + 1,
					  table[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				table[i][j] = MIN(table[i][j], table[i - 2][j - 2] + 1);
		}
	return table[a_length][b_length];
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	size_t wanted_length = strlen(nearest->wanted), length = strlen(name), steps;

	if (wanted_length == 0 || wanted_length > MAX_LENGTH || length > MAX_LENGTH)
		return;
	/* A beginning is as good as one wrong letter: "dur" for "duration". */
	if (wanted_length >= 2 && strncmp(name, nearest->wanted, wanted_length) == 0)
		steps = 1;
	else
		steps = word_distance(nearest->wanted, wanted_length, name, length);
	if (steps > 1 + length / 4 || (nearest->best && steps >= nearest->distance))
		return;
	nearest->best = name;
	nearest->distance = steps;
}
