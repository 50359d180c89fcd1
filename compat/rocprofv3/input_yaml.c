/*
 * Input files in YAML, read by libyaml:
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

#include <errno.h>
#include <stdio.h>
#include <yaml.h>

/* The possible next parts. */
enum yaml_state {
	YAML_DOCUMENT, /* the mapping that holds "jobs" */
	YAML_JOBS_KEY,
	YAML_JOBS, /* the list of them */
	YAML_JOB,  /* a mapping of settings */
	YAML_NAME, /* of a setting */
	YAML_VALUE,
	YAML_ITEM, /* of a list of values */
	YAML_END,
};

struct yaml_reader {
	struct input *input;
	enum yaml_state state;
};

typedef int yaml_step(struct yaml_reader *self, const yaml_event_t *event, struct err *err);

static int yaml_refuse(const struct yaml_reader *self, const yaml_mark_t *mark, struct err *err)
{
	char what[96];

	snprintf(what, sizeof(what), "limpet does not understand line %zu of its YAML",
		 mark->line + 1);
	return input_refuse(self->input, what, err);
}

static struct text scalar_text(const yaml_event_t *event)
{
	const char *value = (const char *)event->data.scalar.value;

	return (struct text){ value, value + event->data.scalar.length };
}

static bool is_plain_null(const yaml_event_t *event)
{
	struct text text = scalar_text(event);

	return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (text.at == text.end || text_equals(text, "null") || text_equals(text, "~"));
}

static int yaml_enter(struct yaml_reader *self, enum yaml_state state)
{
	self->state = state;
	return 0;
}

static int yaml_add(struct yaml_reader *self, const yaml_event_t *event, struct err *err)
{
	return is_plain_null(event) ? 0 : input_add_value(self->input, scalar_text(event), err);
}

static int yaml_scalar(struct yaml_reader *self, const yaml_event_t *event, struct err *err)
{
	int r;

	switch (self->state) {
	case YAML_JOBS_KEY:
		if (!text_equals(scalar_text(event), "jobs"))
			break;
		return yaml_enter(self, YAML_JOBS);
	case YAML_JOBS:
		if (!is_plain_null(event))
			break;
		return yaml_enter(self, YAML_END); /* there is none, which is reported elsewhere */
	case YAML_NAME:
		self->state = YAML_VALUE;
		return input_begin_entry(self->input, scalar_text(event), err);
	case YAML_VALUE:
		self->state = YAML_NAME;
		r = yaml_add(self, event, err);
		return r ? r : input_end_entry(self->input, err);
	case YAML_ITEM:
		return yaml_add(self, event, err);
	default:
		break;
	}
	return yaml_refuse(self, &event->start_mark, err);
}

static int yaml_begin(struct yaml_reader *self, const yaml_event_t *event, struct err *err)
{
	bool is_list = event->type == YAML_SEQUENCE_START_EVENT;

	if (self->state == YAML_DOCUMENT && !is_list)
		return yaml_enter(self, YAML_JOBS_KEY);
	if (self->state == YAML_JOBS && is_list)
		return yaml_enter(self, YAML_JOB);
	if (self->state == YAML_VALUE && is_list)
		return yaml_enter(self, YAML_ITEM);
	if (self->state != YAML_JOB || is_list)
		return yaml_refuse(self, &event->start_mark, err);
	self->state = YAML_NAME;
	return input_begin_job(self->input, err);
}

static int yaml_end(struct yaml_reader *self, const yaml_event_t *event, struct err *err)
{
	bool is_list = event->type == YAML_SEQUENCE_END_EVENT;

	if (self->state == YAML_ITEM && is_list) {
		self->state = YAML_NAME;
		return input_end_entry(self->input, err);
	}
	if (self->state == YAML_NAME && !is_list)
		return yaml_enter(self, YAML_JOB);
	if (self->state == YAML_JOB && is_list)
		return yaml_enter(self, YAML_END);
	return self->state == YAML_END && !is_list ? 0 : yaml_refuse(self, &event->start_mark, err);
}

static bool has_extras(const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return true;
	case YAML_SCALAR_EVENT:
		return event->data.scalar.anchor || event->data.scalar.tag;
	case YAML_SEQUENCE_START_EVENT:
		return event->data.sequence_start.anchor || event->data.sequence_start.tag;
	case YAML_MAPPING_START_EVENT:
		return event->data.mapping_start.anchor || event->data.mapping_start.tag;
	default:
		return false;
	}
}

static int yaml_take(struct yaml_reader *self, const yaml_event_t *event, struct err *err)
{
	static yaml_step *const steps[] = {
		[YAML_SCALAR_EVENT] = yaml_scalar,       [YAML_SEQUENCE_START_EVENT] = yaml_begin,
		[YAML_MAPPING_START_EVENT] = yaml_begin, [YAML_SEQUENCE_END_EVENT] = yaml_end,
		[YAML_MAPPING_END_EVENT] = yaml_end,
	};

	if (has_extras(event))
		return yaml_refuse(self, &event->start_mark, err);
	return event->type < ARRAY_SIZE(steps) && steps[event->type]
		       ? steps[event->type](self, event, err)
		       : 0;
}

int input_read_yaml(struct input *input, struct text text, struct err *err)
{
	struct yaml_reader self = { .input = input };
	bool is_over = false;
	yaml_parser_t parser;
	int r = 0;

	if (!yaml_parser_initialize(&parser))
		return err_set(err, -ENOMEM, "read '%s': no memory", input->path);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.at,
				     (size_t)(text.end - text.at));
	while (!r && !is_over) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			r = yaml_refuse(&self, &parser.problem_mark, err);
			break;
		}
		is_over = event.type == YAML_STREAM_END_EVENT;
		r = yaml_take(&self, &event, err);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return r;
}
