/*
 * The oldest form: "pmc: A B", a job a line, '#' begins a comment.
 */
#include "input.h"

#include <string.h>

static int take_line(struct input *input, struct text line, struct err *err)
{
	struct text name, word;
	int r;

	if (!memchr(line.at, ':', (size_t)(line.end - line.at)) ||
	    !text_take_field(&line, ':', &name))
		return input_refuse(input, "a line of it has no colon", err);
	text_skip_blanks(&name);
	r = input_begin_job(input, err);
	if (!r)
		r = input_begin_entry(input, name, err);
	while (!r && text_take_word(&line, &word))
		r = input_add_value(input, word, err);
	return r ? r : input_end_entry(input, err);
}

int input_read_txt(struct input *input, struct text text, struct err *err)
{
	struct text line;
	int r = 0;

	while (!r && text_take_line(&text, &line)) {
		const char *comment = memchr(line.at, '#', (size_t)(line.end - line.at));
		struct text probe, word;

		if (comment)
			line.end = comment;
		while (line.at < line.end && line.end[-1] == '\r')
			line.end--;
		probe = line;
		if (text_take_word(&probe, &word))
			r = take_line(input, line, err);
	}
	return r;
}
