/*
 * A program that holds a process by the library, until its input ends.  Not a target.
 * usage: holder PID
 */
#include <stdio.h>
#include <stdlib.h>

#include <limpet/limpet.h>

static int hold(struct limpet *target, struct limpet_error *error)
{
	struct limpet_options options = LIMPET_OPTIONS_INIT;
	struct limpet_report report = LIMPET_REPORT_INIT;
	int r = limpet_attach(target, &options, &report, error);

	if (r)
		return r;
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return limpet_detach(target, 0, error);
}

int main(int argc, char **argv)
{
	struct limpet_error error = LIMPET_ERROR_INIT;
	struct limpet *target = argc == 2 ? limpet_open(atoi(argv[1]), &error) : NULL;
	int r = target ? hold(target, &error) : -1;

	limpet_close(target);
	if (r)
		puts(error.what);
	return r ? 1 : 0;
}
