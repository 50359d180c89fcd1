/*
 * {"jobs": [{"hip_trace": true, "output_format": ["csv", "json"], ...}]}
 */
#include "input.h"

#include "host/core/cleanup.h"
#include "host/core/text/json_reader.h"

#include <string.h>
#include <strings.h>

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

static int value_read(struct input_reader *self, struct err *err)
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
static int entry_read(struct input_reader *self, struct err *err)
{
	int r = input_begin_entry(self->input, text_of(self->text), err);

	if (!r && json_read_kind(&self->json) != '[') {
		r = value_read(self, err);
	} else if (!r && json_read_list(&self->json)) {
		while (!r && json_read_item(&self->json))
			r = value_read(self, err);
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
			r = entry_read(self, err);
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
