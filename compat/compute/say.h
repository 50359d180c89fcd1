/*
 * The program's messages: on the terminal, by level, and into log.txt.
 */
#pragma once

#include "host/core/output/output_file.h"
#include "host/rocprofv3/listener.h"

struct speaker {
	enum say_level level;
	struct output_file log; /* out is NULL: there is none */
};

void speaker_say(struct speaker *speaker, enum say_level level, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* The same for a text of several lines that is ready. */
void speaker_say_text(void *speaker, enum say_level level, const char *text);
void speaker_say_error(struct speaker *speaker, const struct err *err);

int speaker_open_log(struct speaker *speaker, const char *folder, struct err *err) MUST_CHECK;
/* Renames it to its name; reports failures. */
void speaker_close_log(struct speaker *speaker);
