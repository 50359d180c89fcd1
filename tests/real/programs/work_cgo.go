package main

/*
#include <stdlib.h>

extern int back(int);

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int sorts(int count)
{
	int *numbers = malloc(count * sizeof(int)), smallest;

	for (int i = 0; i < count; i++)
		numbers[i] = i * 7919 % count;
	qsort(numbers, count, sizeof(int), by_number);
	smallest = numbers[0];
	free(numbers);
	return smallest + back(count);
}
*/
import "C"

//export back
func back(n C.int) C.int { return C.int(deep(int(n) % 50)) }

func called() bool { return C.sorts(2049) == 49 }
