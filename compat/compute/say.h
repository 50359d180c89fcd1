/*
 * What the program says: on the terminal, by how much is asked for, and into log.txt.
 */
#pragma once

#include "face.h"
#include "host/core/output/output_file.h"

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
/* Gives it its name; what failed is said. */
void speaker_close_log(struct speaker *speaker);
