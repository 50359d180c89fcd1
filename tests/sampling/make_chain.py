#!/usr/bin/env python3
"""Writes a C program whose stack is known: f_0000 calls f_0001 and so on; the leaf spins.

usage: make_chain.py DEPTH BYTES_OF_LOCALS OUTPUT
"""

import sys

HEAD = """#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline, noipa))

static int is_sleepy;

APART uint64_t leaf_spin(uint64_t x)
{
	for (int i = 0; i < 4000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

APART void leaf_sleep(void)
{
	struct timespec time = { 0, 2000000 };

	nanosleep(&time, NULL);
}
"""

TAIL = """
APART void *worker(void *x)
{
	uint64_t value = (uint64_t)x | 1;

	for (;;)
		value = f_0000(value) | 1;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	is_sleepy = argc > 2;
	for (int i = 1; i < atoi(argv[1]); i++)
		pthread_create(&thread, NULL, worker, NULL);
	worker(argv);
	return 0;
}
"""


def function(number, size, body):
    return f"""
APART uint64_t f_{number:04}(uint64_t x)
{{
	volatile char local[{size}];

	local[x & 7] = (char)x;
{body}
}}
"""


def main():
    depth, size = int(sys.argv[1]), int(sys.argv[2])
    parts = [HEAD]
    last = "\tif (is_sleepy)\n\t\tleaf_sleep();\n\telse\n\t\tx = leaf_spin(x);\n\treturn x + local[x & 7];"
    parts.append(function(depth - 1, size, last))
    for number in range(depth - 2, -1, -1):
        parts.append(function(number, size, f"\treturn f_{number + 1:04}(x ^ {number}) + local[x & 7];"))
    parts.append(TAIL)
    with open(sys.argv[3], "w", encoding="utf-8") as out:
        out.write("".join(parts))


if __name__ == "__main__":
    main()
