/*
 * The part of YAML that AMD's examples use:
 *
 *   jobs:
 *     - hip_trace: true              # a job
 *       output_format: [csv, "json"]
 *       summary_groups:
 *         - "KERNEL.*"
 */
#include "input.h"

#include <string.h>

struct yaml_line {
	size_t indent;
	bool has_dash;
	struct text rest; /* behind the dash */
};

struct yaml_reader {
	struct input *input;
	bool has_jobs;
	size_t job_indent;
};

static int refuse(const struct yaml_reader *self, struct text line, struct err *err)
{
	char what[128], shown[64];

	text_copy_printable(line, shown, sizeof(shown));
	snprintf(what, sizeof(what), "limpet does not understand this line of YAML: %s", shown);
	return input_refuse(self->input, what, err);
}

static void trim(struct text *text)
{
	while (text->at < text->end && memchr(" \t\r", *text->at, 3))
		text->at++;
	while (text->at < text->end && memchr(" \t\r", text->end[-1], 3))
		text->end--;
}

/* Up to a '#' that begins a comment. */
static void cut_comment(struct text *line)
{
	char quote = 0;

	for (const char *at = line->at; at < line->end; at++) {
		if (quote)
			quote = *at == quote ? 0 : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '#' && (at == line->at || at[-1] == ' ' || at[-1] == '\t'))
			line->end = at;
	}
}

static struct yaml_line parse_line(struct text line)
{
	struct yaml_line parsed = { 0 };
	const char *begin = line.at;

	cut_comment(&line);
	trim(&line);
	parsed.indent = (size_t)(line.at - begin);
	parsed.rest = line;
	if (text_take_char(&parsed.rest, '-') &&
	    (parsed.rest.at == parsed.rest.end || *parsed.rest.at == ' '))
		parsed.has_dash = true;
	else
		parsed.rest = line;
	trim(&parsed.rest);
	return parsed;
}

/* Moves behind "name:"; false when there is none. */
static bool take_name(struct text *rest, struct text *ret)
{
	for (const char *at = rest->at; at < rest->end; at++) {
		bool is_word = (*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9') ||
			       *at == '_' || *at == '-';

		if (*at == ':' && at > rest->at && (at + 1 == rest->end || at[1] == ' ')) {
			*ret = (struct text){ rest->at, at };
			rest->at = at + 1;
			trim(rest);
			return true;
		}
		if (!is_word)
			return false;
	}
	return false;
}

static int add_scalar(struct yaml_reader *self, struct text value, struct err *err)
{
	trim(&value);
	if (value.end - value.at >= 2 && (*value.at == '"' || *value.at == '\'') &&
	    value.end[-1] == *value.at) {
		value.at++;
		value.end--;
		if (memchr(value.at, '\\', (size_t)(value.end - value.at)) && value.at[-1] == '"')
			return refuse(self, value, err);
	} else if (value.at < value.end && memchr("\"'[]{}&*|>!%@`", *value.at, 14)) {
		return refuse(self, value, err);
	} else if (text_equals(value, "null") || text_equals(value, "~")) {
		return 0;
	}
	return input_add_value(self->input, value, err);
}

/* "a, b]" */
static int add_list(struct yaml_reader *self, struct text rest, struct err *err)
{
	char quote = 0;
	int r = 0;

	if (rest.at == rest.end || rest.end[-1] != ']')
		return refuse(self, rest, err);
	rest.end--;
	for (const char *at = rest.at; !r && at < rest.end; at++) {
		if (quote) {
			quote = *at == quote ? 0 : quote;
		} else if (*at == '"' || *at == '\'') {
			quote = *at;
		} else if (*at == ',') {
			r = add_scalar(self, (struct text){ rest.at, at }, err);
			rest.at = at + 1;
		}
	}
	trim(&rest);
	return r || rest.at == rest.end ? r : add_scalar(self, rest, err);
}

/* The name that was open gets no more values. */
static int close_entry(struct yaml_reader *self, struct err *err)
{
	return self->input->entry.name ? input_end_entry(self->input, err) : 0;
}

static int take_entry(struct yaml_reader *self, struct text rest, struct err *err)
{
	struct text name, line = rest;
	int r = close_entry(self, err);

	if (!r && !take_name(&rest, &name))
		r = refuse(self, line, err);
	if (!r)
		r = input_begin_entry(self->input, name, err);
	if (r || rest.at == rest.end)
		return r;
	if (text_take_char(&rest, '['))
		return add_list(self, rest, err);
	return add_scalar(self, rest, err);
}

static int take_line(struct yaml_reader *self, const struct yaml_line *line, struct err *err)
{
	bool begins_job =
		line->has_dash && (!self->input->jobs || line->indent <= self->job_indent);
	struct text name, rest = line->rest;
	int r = 0;

	if (!self->has_jobs) {
		self->has_jobs = !line->indent && !line->has_dash && take_name(&rest, &name) &&
				 text_equals(name, "jobs") && rest.at == rest.end;
		return self->has_jobs ? 0 : refuse(self, line->rest, err);
	}
	if (line->has_dash && !begins_job)
		return self->input->entry.name ? add_scalar(self, line->rest, err)
					       : refuse(self, line->rest, err);
	if (begins_job) {
		r = close_entry(self, err);
		self->job_indent = line->indent;
		if (!r)
			r = input_begin_job(self->input, err);
	} else if (!self->input->jobs || line->indent <= self->job_indent) {
		return refuse(self, line->rest, err);
	}
	return r ? r : take_entry(self, line->rest, err);
}

int input_read_yaml(struct input *input, struct text text, struct err *err)
{
	struct yaml_reader self = { .input = input };
	struct text whole;
	int r = 0;

	while (!r && text_take_line(&text, &whole)) {
		struct yaml_line line = parse_line(whole);

		if (line.rest.at == line.rest.end || text_equals(line.rest, "---"))
			continue;
		r = take_line(&self, &line, err);
	}
	return r ? r : close_entry(&self, err);
}
