/*
 * The common part of the formats, and the simplest one.  Files are foreign bytes.
 */
#include "input.h"

#include "host/core/cleanup.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *ending;
	input_format *read;
} formats[] = {
	{ ".json", input_read_json },
	{ ".yaml", input_read_yaml },
	{ ".yml", input_read_yaml },
	{ ".txt", input_read_txt },
};

int input_refuse(const struct input *input, const char *what, struct err *err)
{
	return err_usage(err, NULL, "cannot use '%s': %s", input->path, what);
}

int input_begin_job(struct input *input, struct err *err)
{
	if (!input->jobs++ || input->profile->command)
		return 0;
	if (input->profile->counters.count)
		return profile_refuse_passes(input->profile, err);
	err_set(err, -ENOTSUP, "'%s' has several jobs", input->path);
	err_why(err, "a process that runs is attached once; it cannot be run again for each job");
	err_fix(err, "one job a file, and rocprofv3 --attach for each");
	return err_exit(err, EXIT_USAGE);
}

static int text_keep(struct input *input, struct text text, const char **ret, struct err *err)
{
	*ret = profile_keep(input->profile, text.at, (size_t)(text.end - text.at));
	return *ret ? 0 : err_set(err, -ENOMEM, "no memory for '%s'", input->path);
}

int input_begin_entry(struct input *input, struct text name, struct err *err)
{
	input->entry.count = 0;
	return text_keep(input, name, &input->entry.name, err);
}

int input_add_value(struct input *input, struct text value, struct err *err)
{
	if (input->entry.count == INPUT_VALUES_MAX)
		return input_refuse(input, "too many values", err);
	return text_keep(input, value, &input->entry.values[input->entry.count++], err);
}

/* The command line and the file may agree, but not differ. */
static int check_conflict(const struct input *input, const struct setting *setting,
			  const char *before, struct err *err)
{
	const char *now = input->profile->given[setting - settings];

	if (!before || !strcmp(before, now))
		return 0;
	if (input->profile->counter_passes > 1)
		return profile_refuse_passes(input->profile, err);
	return err_usage(err, NULL, "'%s' and the command line do not agree on %s: '%s' and '%s'",
			 input->path, input->entry.name, now, before);
}

int input_end_entry(struct input *input, struct err *err)
{
	const struct input_entry *entry = &input->entry;
	const struct setting *setting = setting_find(entry->name, strlen(entry->name));
	const char *before;
	int r;

	if (!setting || setting->letter == 'i')
		return err_usage(err, NULL, "cannot use '%s': unknown setting '%s'", input->path,
				 entry->name);
	/* Null or an empty list; or of another job. */
	if (!entry->count || input->jobs != input->profile->job + 1)
		return 0;
	before = input->profile->given[setting - settings];
	r = setting_make(input->profile, setting, entry->values, entry->count, err);
	if (r)
		err_while(err, "'%s'", input->path);
	if (!r)
		r = check_conflict(input, setting, before, err);
	input->entry.name = NULL;
	return r;
}

/* The oldest form: "pmc: A B", a job a line, '#' begins a comment. */
static int line_read(struct input *input, struct text line, struct err *err)
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
			r = line_read(input, line, err);
	}
	return r;
}

static input_format *find_format(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		size_t length = strlen(path), end = strlen(formats[i].ending);

		if (length > end && !strcasecmp(path + length - end, formats[i].ending))
			return formats[i].read;
	}
	return NULL;
}

int input_read(struct profile *profile, struct err *err)
{
	struct input input = { .profile = profile, .path = profile->input };
	CLEANUP(free) char *content = NULL;
	input_format *read;
	size_t size;
	int r;

	if (!profile->input)
		return 0;
	read = find_format(profile->input);
	if (!read)
		return input_refuse(&input, "its name must end in .json, .yaml, .yml or .txt", err);
	r = text_read_file(profile->input, INPUT_FILE_MAX, &content, &size);
	if (r)
		return err_set(err, r, "read '%s': %s", profile->input, strerror(-r));
	r = read(&input, (struct text){ content, content + size }, err);
	if (!r && !input.jobs)
		r = input_refuse(&input, "there is no job in it", err);
	profile->job_count = input.jobs;
	return r;
}
