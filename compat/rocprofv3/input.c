/*
 * Input files; they are foreign bytes.  Text: "pmc: A B", a job a line.  JSON:
 *
 *   {"jobs": [{"hip_trace": true, "output_format": ["csv", "json"], ...}]}
 *
 * YAML:
 *
 *   jobs:
 *     - hip_trace: true              # a job
 *       output_format: [csv, "json"]
 *       summary_groups:
 *         - "KERNEL.*"
 *
 * Anchors, aliases, tags and deeper nesting mean nothing here and are refused by their line.
 */
#include "input.h"
#include "host/core/cleanup.h"
#include "host/core/text/json_reader.h"
#include "host/core/text/text.h"
#include "host/core/yaml_tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define INPUT_FILE_MAX (1u << 20)

static int input_refuse(const struct input *input, const char *what, struct err *err)
{
	return err_usage(err, NULL, "cannot use '%s': %s", input->path, what);
}

static int input_begin_job(struct input *input, struct err *err)
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

static int input_begin_entry(struct input *input, struct text name, struct err *err)
{
	input->entry.count = 0;
	return text_keep(input, name, &input->entry.name, err);
}

static int input_add_value(struct input *input, struct text value, struct err *err)
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

static int input_end_entry(struct input *input, struct err *err)
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

static int line_refuse(const struct input *input, size_t line, struct err *err)
{
	char what[96];

	snprintf(what, sizeof(what), "limpet does not understand line %zu of its YAML", line);
	return input_refuse(input, what, err);
}

static struct text text_in(const struct yaml_node *node)
{
	return (struct text){ node->text, node->text + node->length };
}

static bool is_null(const struct yaml_node *node)
{
	return node->kind == YAML_TEXT && node->is_plain &&
	       (!node->length || text_equals(text_in(node), "null") ||
		text_equals(text_in(node), "~"));
}

static int value_add(struct input *input, const struct yaml_node *value, struct err *err)
{
	if (value->kind != YAML_TEXT)
		return line_refuse(input, value->line, err);
	return is_null(value) ? 0 : input_add_value(input, text_in(value), err);
}

static int yaml_entry_read(struct input *input, const struct yaml_node *key, struct err *err)
{
	const struct yaml_node *value = key->next;
	int r = key->kind == YAML_TEXT ? input_begin_entry(input, text_in(key), err)
				       : line_refuse(input, key->line, err);

	if (!r && value->kind != YAML_LIST)
		r = value_add(input, value, err);
	for (const struct yaml_node *item = yaml_items(value); !r && item; item = item->next)
		r = value_add(input, item, err);
	return r ? r : input_end_entry(input, err);
}

static int yaml_job_read(struct input *input, const struct yaml_node *job, struct err *err)
{
	int r = job->kind == YAML_MAPPING ? input_begin_job(input, err)
					  : line_refuse(input, job->line, err);

	for (const struct yaml_node *key = yaml_keys(job); !r && key; key = key->next->next)
		r = yaml_entry_read(input, key, err);
	return r;
}

/* A mapping with one key.  Without jobs nothing is wrong here: that is reported elsewhere. */
static int yaml_document_read(struct input *input, const struct yaml_node *root, struct err *err)
{
	const struct yaml_node *key = yaml_keys(root);
	int r = 0;

	if (!key)
		return line_refuse(input, root->kind == YAML_MAPPING ? root->end_line : root->line,
				   err);
	if (key->kind != YAML_TEXT || !text_equals(text_in(key), "jobs"))
		return line_refuse(input, key->line, err);
	if (key->next->kind != YAML_LIST && !is_null(key->next))
		return line_refuse(input, key->next->line, err);
	for (const struct yaml_node *job = yaml_items(key->next); !r && job; job = job->next)
		r = yaml_job_read(input, job, err);
	key = key->next->next ? key->next->next : root->next;
	return r || !key ? r : line_refuse(input, key->line, err);
}

int input_read_yaml(struct input *input, struct text text, struct err *err)
{
	CLEANUP(yaml_tree_done) struct yaml_tree tree = { 0 };
	struct err ignored = { 0 };
	int r = yaml_tree_parse(&tree, input->path, text, YAML_NO_ANCHORS | YAML_NO_TAGS, &ignored);

	if (r == -EINVAL)
		return line_refuse(input, tree.problem_line, err);
	if (r)
		return err_set(err, r, "read '%s': no memory", input->path);
	return tree.first ? yaml_document_read(input, tree.first, err) : 0;
}

struct input_reader {
	struct input *input;
	struct json_reader json;
	char *text; /* the room of one text: as long as the file */
	size_t room;
};

static int form_refuse(const struct input_reader *self, struct err *err)
{
	return input_refuse(self->input, "it is not JSON of the form {\"jobs\": [{...}]}", err);
}

/* \u0000 and halves of surrogate pairs, which a text in UTF-8 cannot hold: a file may have the
 * character itself. */
static bool has_odd_escape(struct text raw)
{
	for (; raw.end - raw.at > 1; raw.at++) {
		if (*raw.at != '\\')
			continue;
		raw.at++;
		if (raw.end - raw.at > 4 &&
		    (!strncmp(raw.at, "u0000", 5) ||
		     (!strncasecmp(raw.at, "ud", 2) && strchr("89abcdefABCDEF", raw.at[2]))))
			return true;
	}
	return false;
}

static int json_value_read(struct input_reader *self, struct err *err)
{
	bool is_quoted = json_read_kind(&self->json) == '"';
	const char *begin = self->json.at;

	if (is_quoted)
		json_read_text(&self->json, self->text, self->room);
	else
		json_read_bare(&self->json, self->text, self->room);
	if (self->json.has_failed || has_odd_escape((struct text){ begin, self->json.at }))
		return form_refuse(self, err);
	if (!is_quoted && !strcmp(self->text, "null"))
		return 0;
	return input_add_value(self->input, text_of(self->text), err);
}

/* Its name is in the room. */
static int json_entry_read(struct input_reader *self, struct err *err)
{
	int r = input_begin_entry(self->input, text_of(self->text), err);

	if (!r && json_read_kind(&self->json) != '[') {
		r = json_value_read(self, err);
	} else if (!r && json_read_list(&self->json)) {
		while (!r && json_read_item(&self->json))
			r = json_value_read(self, err);
	}
	if (!r && self->json.has_failed)
		r = form_refuse(self, err);
	return r ? r : input_end_entry(self->input, err);
}

static int jobs_read(struct input_reader *self, struct err *err)
{
	struct json_reader *json = &self->json;
	int r = 0;

	if (!json_read_object(json) || !json_read_member(json, self->text, self->room) ||
	    strcmp(self->text, "jobs") != 0 || !json_read_list(json))
		return form_refuse(self, err);
	while (!r && json_read_item(json)) {
		if (!json_read_object(json))
			break;
		r = input_begin_job(self->input, err);
		while (!r && json_read_member(json, self->text, self->room))
			r = json_entry_read(self, err);
	}
	if (!r && (json_read_member(json, self->text, self->room) || !json_read_whole(json)))
		r = form_refuse(self, err);
	return r;
}

int input_read_json(struct input *input, struct text text, struct err *err)
{
	size_t size = (size_t)(text.end - text.at);
	CLEANUP(free) char *room = malloc(size + 1);
	struct input_reader self = { input, json_reader_of(text.at, size), room, size + 1 };

	return room ? jobs_read(&self, err) : form_refuse(&self, err);
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

static const struct {
	const char *ending;
	input_format *read;
} formats[] = {
	{ ".json", input_read_json },
	{ ".yaml", input_read_yaml },
	{ ".yml", input_read_yaml },
	{ ".txt", input_read_txt },
};

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
