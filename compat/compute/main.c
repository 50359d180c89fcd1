/*
 * rocprof-compute, for machines without AMD's: the same command line and folder.
 */
#include "host/core/self/environment.h"
#include "host/core/text/print.h"
#include "modes.h"

#include <stdlib.h>

#ifndef LIMPET_VERSION
#error "the build gives it"
#endif

static int mode_run(const struct compute_options *options, char **argv, struct speaker *speaker,
		    int *status, struct err *err)
{
	if (options->shows_help) {
		compute_options_help(stdout);
		return 0;
	}
	if (options->shows_version) {
		print(stdout, "rocprof-compute of limpet %s\n", LIMPET_VERSION);
		return 0;
	}
	return options->mode == MODE_PROFILE ? profile_mode_run(options, speaker, status, err)
					     : analyze_mode_run(options, argv, speaker, err);
}

int main(int argc, char **argv)
{
	struct speaker speaker = { .level = SAY_INFO };
	struct compute_options options;
	struct err err = { 0 };
	int status = 0, r;

	(void)argc;
	environment_distrust();
	r = compute_options_read(&options, argv + 1, &err);
	speaker.level = options.verbosity ? SAY_TRACE : SAY_INFO;
	if (options.is_quiet)
		speaker.level = SAY_ERROR;
	if (!r)
		r = mode_run(&options, argv, &speaker, &status, &err);
	if (r)
		speaker_say_error(&speaker, &err);
	speaker_close_log(&speaker);
	return r && !status ? EXIT_FAILURE : status;
}
