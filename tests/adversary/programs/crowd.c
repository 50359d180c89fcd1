/*
 * crowd COUNT: so many threads with small stacks, all at rest; says how many there are, and rests
 * too.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK_BYTES 65536

static void *rest(void *argument)
{
	(void)argument;
	while (pause())
		;
	return NULL;
}

int main(int argc, char **argv)
{
	int wanted = argc > 1 ? atoi(argv[1]) : 1, count = 0;
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	while (count < wanted && !pthread_create(&thread, &attributes, rest, NULL))
		count++;
	printf("%d\n", count);
	fflush(stdout);
	rest(NULL);
}
