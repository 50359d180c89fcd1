/*
 * AMD's program writes its lines to stdout; so does this one, and errors to stderr.
 */
#include "say.h"

#include "host/core/text/print.h"

#include <stdarg.h>

static const char *const level_names[] = { "FATAL", "ERROR", "WARNING", "INFO", "DEBUG" };

void speaker_say_text(void *context, enum say_level level, const char *text)
{
	struct speaker *self = context;
	FILE *out = level <= SAY_ERROR ? stderr : stdout;

	if (self->log.out) {
		print(self->log.out, "%s ", level_names[level]);
		print_lines(self->log.out, text);
		fputc('\n', self->log.out);
	}
	if (level > self->level)
		return;
	fflush(stdout);
	print(out, "%s ", level_names[level]);
	print_lines(out, text);
	fputc('\n', out);
	fflush(out);
}

void speaker_say(struct speaker *speaker, enum say_level level, const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	print_list(text, sizeof(text), format, arguments);
	va_end(arguments);
	speaker_say_text(speaker, level, text);
}

void speaker_say_error(struct speaker *speaker, const struct err *err)
{
	const struct job_listener listener = { .say = speaker_say_text, .context = speaker };

	listener_say_error(&listener, SAY_ERROR, err);
}

int speaker_open_log(struct speaker *speaker, const char *folder, struct err *err)
{
	char path[700];
	int r;

	print_into(path, sizeof(path), "%s/log.txt", folder);
	r = output_make_folders(path, err);
	return r ? r : output_open(&speaker->log, path, err);
}

void speaker_close_log(struct speaker *speaker)
{
	struct output_file log = speaker->log;
	struct err err = { 0 };
	int r = log.out ? output_commit(&log, &err) : 0;

	speaker->log = (struct output_file){ 0 };
	output_discard(&log);
	if (r)
		speaker_say_error(speaker, &err);
}
