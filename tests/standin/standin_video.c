/*
 * STAND-IN, for tests only.  A program that decodes pictures with the stand-ins of rocDecode and
 * rocJPEG when it is told to: "go N", N rounds; prints "did NAME COUNT" lines and "end".
 */
#include "standin_media.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char decoder, stream;

static void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	printf("wrong %s\n", what);
	fflush(stdout);
	_exit(1);
}

/* What goes in and comes out is what the functions behind the tables were given and gave. */
static void decode(int round)
{
	void *parser = NULL, *memory = NULL;
	uint32_t pitch = 0;

	check(!rocDecCreateVideoParser(&parser, &stream) && parser == &stream, "parser");
	check(rocDecGetVideoFrame(&decoder, round, &memory, &pitch, NULL) == round &&
		      memory == &decoder && pitch == 1024,
	      "frame");
	check(!rocDecGetVideoFrame(&decoder, round, &memory, &pitch, &stream), "second frame");
	check(rocJpegStreamParse(NULL, (size_t)round, &stream) == -round, "stream");
}

int main(void)
{
	char line[64];

	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		int rounds = atoi(line + 3);

		for (int i = 1; i <= rounds; i++)
			decode(i);
		printf("did rocDecCreateVideoParser %d\ndid rocDecGetVideoFrame %d\n"
		       "did rocJpegStreamParse %d\nend\n",
		       rounds, 2 * rounds, rounds);
		fflush(stdout);
	}
	return 0;
}
