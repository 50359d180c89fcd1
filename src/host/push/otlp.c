/*
 * OpenTelemetry's profiles, v1development as of opentelemetry-proto 1.11: one
 * ExportProfilesServiceRequest, gzipped, with a resource for each set of labels and tables that all
 * of them share.  Item 0 of each table is empty and means "none".
 */
#include "host/push/format.h"

#include "host/core/cleanup.h"
#include "host/core/pool.h"
#include "host/export/gzip.h"
#include "host/export/proto.h"
#include "host/model/samples/languages.h"
#include "host/model/samples/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Field numbers of profiles_service.proto, profiles.proto, resource.proto and common.proto. */
enum request_field { REQUEST_RESOURCE = 1, REQUEST_DICTIONARY = 2 };
enum resource_profiles_field { RESOURCE_RESOURCE = 1, RESOURCE_SCOPE = 2 };
enum scope_field { SCOPE_SCOPE = 1, SCOPE_PROFILE = 2, SCOPE_NAME = 1 };
enum profile_field {
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
	PROFILE_ID = 7,
};
enum type_field { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum sample_field { SAMPLE_STACK = 1, SAMPLE_VALUES = 4 };
enum dictionary_table {
	TABLE_MAPPING = 1,
	TABLE_LOCATION = 2,
	TABLE_FUNCTION = 3,
	TABLE_LINK = 4,
	TABLE_STRING = 5,
	TABLE_ATTRIBUTE = 6,
	TABLE_STACK = 7,
	TABLES,
};
enum mapping_field { MAPPING_LIMIT = 2, MAPPING_FILE = 4, MAPPING_ATTRIBUTES = 5 };
enum stack_field { STACK_LOCATIONS = 1 };
enum location_field {
	LOCATION_MAPPING = 1,
	LOCATION_ADDRESS = 2,
	LOCATION_LINE = 3,
	LOCATION_ATTRIBUTES = 4
};
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field { FUNCTION_NAME = 1, FUNCTION_SYSTEM = 2, FUNCTION_FILE = 3 };
enum link_field { LINK_TRACE = 1, LINK_SPAN = 2 };
enum attribute_field { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE = 2 };
enum value_field { VALUE_TEXT = 1 };
enum wire_type { WIRE_NUMBER = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
enum answer_field { ANSWER_PARTIAL = 1, PARTIAL_REJECTED = 1, PARTIAL_MESSAGE = 2 };

#define TRACE_ID_BYTES 16u
#define SPAN_ID_BYTES  8u

/* A profile has values of one kind. */
static const struct {
	const char *type;
	enum sample_kind kind;
} profile_types[] = { { "cpu", SAMPLE_RUNNING },
		      { "off_cpu", SAMPLE_BLOCKED },
		      { "runnable", SAMPLE_RUNNABLE } };

/* The shared tables, and which of the model's things are in them: their numbers there, 0: not yet.
 */
struct otlp_tables {
	struct bytes tables[TABLES];
	uint32_t counts[TABLES];
	struct pool strings;    /* the table of strings: 0 is "" */
	struct pool attributes; /* "KEY\nVALUE", by which they are found again */
	uint32_t *mappings, *locations, *functions, *stacks;
	uint64_t *weights; /* by stack, of one profile; the last is of samples without one */
	struct bytes item, inner, packed;
	bool has_failed;
};

static void otlp_free(struct otlp_tables *self)
{
	if (!self)
		return;
	for (unsigned i = 0; i < TABLES; i++)
		bytes_done(&self->tables[i]);
	pool_done(&self->strings);
	pool_done(&self->attributes);
	free(self->mappings);
	free(self->locations);
	free(self->functions);
	free(self->stacks);
	free(self->weights);
	bytes_done(&self->item);
	bytes_done(&self->inner);
	bytes_done(&self->packed);
	free(self);
}

/* The item that was written, as the next one of a table; its number. */
static uint32_t item_end(struct otlp_tables *self, enum dictionary_table table)
{
	proto_message(&self->tables[table], table, &self->item);
	self->has_failed |= self->tables[table].has_failed;
	return self->counts[table]++;
}

static uint32_t string_index(struct otlp_tables *self, const char *string)
{
	uint32_t number = pool_add(&self->strings, string);

	self->has_failed |= number == POOL_NONE;
	return number == POOL_NONE ? 0 : number;
}

static void packed_put(struct otlp_tables *self, uint64_t value)
{
	bytes_varint(&self->packed, value);
	self->has_failed |= self->packed.has_failed;
}

/* The first entry of every table. */
static void tables_begin(struct otlp_tables *self)
{
	static const unsigned char zeros[TRACE_ID_BYTES];

	string_index(self, "");
	for (unsigned i = TABLE_MAPPING; i < TABLES; i++) {
		if (i == TABLE_STRING)
			continue;
		if (i == TABLE_LINK) {
			bytes_put(&self->packed, zeros, TRACE_ID_BYTES);
			proto_message(&self->item, LINK_TRACE, &self->packed);
			bytes_put(&self->packed, zeros, SPAN_ID_BYTES);
			proto_message(&self->item, LINK_SPAN, &self->packed);
		}
		item_end(self, (enum dictionary_table)i);
	}
	self->has_failed |= pool_add(&self->attributes, "") == POOL_NONE;
}

static struct otlp_tables *otlp_new(const struct samples *samples)
{
	struct otlp_tables *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->mappings = calloc(samples->code_count + 1, sizeof(uint32_t));
	self->locations = calloc(samples->frame_count + 1, sizeof(uint32_t));
	self->functions = calloc(samples->function_count + 1, sizeof(uint32_t));
	self->stacks = calloc(samples->stack_count + 1, sizeof(uint32_t));
	self->weights = calloc(samples->stack_count + 1, sizeof(uint64_t));
	tables_begin(self);
	if (self->mappings && self->locations && self->functions && self->stacks && self->weights &&
	    !self->has_failed)
		return self;
	otlp_free(self);
	return NULL;
}

static uint32_t attribute_index(struct otlp_tables *self, const char *key, const char *value)
{
	char both[256];
	uint32_t number;

	snprintf(both, sizeof(both), "%s\n%s", key, value);
	number = pool_find(&self->attributes, both);
	if (number != POOL_NONE)
		return number;
	self->has_failed |= pool_add(&self->attributes, both) == POOL_NONE;
	proto_number(&self->item, ATTRIBUTE_KEY, string_index(self, key));
	proto_text(&self->inner, VALUE_TEXT, value);
	proto_message(&self->item, ATTRIBUTE_VALUE, &self->inner);
	return item_end(self, TABLE_ATTRIBUTE);
}

/* Addresses of a mapping are those of its file: it begins at 0 and has no end. */
static uint32_t mapping_index(struct otlp_tables *self, const struct samples *samples,
			      uint32_t code)
{
	const struct sample_code *of = &samples->codes[code];
	char build_id[2 * BUILD_ID_MAX + 1] = "";
	uint32_t attribute = 0;

	if (self->mappings[code])
		return self->mappings[code];
	for (uint32_t i = 0; i < of->build_id_size; i++)
		snprintf(build_id + 2 * i, 3, "%02x", of->build_id[i]);
	if (*build_id)
		attribute = attribute_index(self, "process.executable.build_id.gnu", build_id);
	proto_number(&self->item, MAPPING_LIMIT, UINT64_MAX);
	proto_number(&self->item, MAPPING_FILE, string_index(self, of->path));
	if (attribute) {
		packed_put(self, attribute);
		proto_message(&self->item, MAPPING_ATTRIBUTES, &self->packed);
	}
	return self->mappings[code] = item_end(self, TABLE_MAPPING);
}

static uint32_t function_index(struct otlp_tables *self, const struct samples *samples,
			       const struct sample_location *location)
{
	uint32_t name;

	if (self->functions[location->function])
		return self->functions[location->function];
	name = string_index(self, samples->functions[location->function].name);
	proto_number(&self->item, FUNCTION_NAME, name);
	proto_number(&self->item, FUNCTION_SYSTEM, name);
	proto_number(&self->item, FUNCTION_FILE, string_index(self, location->file));
	return self->functions[location->function] = item_end(self, TABLE_FUNCTION);
}

/* profile.frame.type of OpenTelemetry's conventions. */
static const char *frame_type(const struct sample_code *code)
{
	static const struct {
		const char *language, *type;
	} types[] = {
		{ "python", "cpython" }, { "perl", "perl" }, { "ruby", "ruby" }, { "php", "php" }
	};
	const char *language = language_name(language_of_path(code->path));

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].language, language))
			return types[i].type;
	return code->kind == CODE_KERNEL ? "kernel" : "native";
}

/* Functions first: an item is written in one go. */
static uint32_t location_index(struct otlp_tables *self, const struct samples *samples,
			       uint32_t number)
{
	const struct sample_frame *frame = &samples->frames[number];
	const struct sample_location *locations = &samples->locations[frame->first_location];
	uint32_t mapping, type;

	if (self->locations[number])
		return self->locations[number];
	for (uint32_t i = 0; i < frame->location_count; i++)
		function_index(self, samples, &locations[i]);
	mapping = mapping_index(self, samples, frame->code);
	type = attribute_index(self, "profile.frame.type",
			       frame_type(&samples->codes[frame->code]));
	proto_number(&self->item, LOCATION_MAPPING, mapping);
	proto_number(&self->item, LOCATION_ADDRESS, frame->address);
	for (uint32_t i = 0; i < frame->location_count; i++) {
		proto_number(&self->inner, LINE_FUNCTION, self->functions[locations[i].function]);
		proto_number(&self->inner, LINE_LINE, locations[i].line);
		proto_message(&self->item, LOCATION_LINE, &self->inner);
	}
	packed_put(self, type);
	proto_message(&self->item, LOCATION_ATTRIBUTES, &self->packed);
	return self->locations[number] = item_end(self, TABLE_LOCATION);
}

static uint32_t stack_index(struct otlp_tables *self, const struct samples *samples, uint32_t stack)
{
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count;

	if (self->stacks[stack])
		return self->stacks[stack];
	count = stack_frames(samples, stack, frames);
	for (size_t i = 0; i < count; i++)
		location_index(self, samples, frames[i]);
	for (size_t i = 0; i < count; i++)
		packed_put(self, self->locations[frames[i]]);
	proto_message(&self->item, STACK_LOCATIONS, &self->packed);
	return self->stacks[stack] = item_end(self, TABLE_STACK);
}

static void type_put(struct otlp_tables *self, struct bytes *profile, unsigned field,
		     const char *type)
{
	proto_number(&self->inner, TYPE_TYPE, string_index(self, type));
	proto_number(&self->inner, TYPE_UNIT, string_index(self, "nanoseconds"));
	proto_message(profile, field, &self->inner);
}

/* All samples with one stack are one, with the sum of their times. */
static void samples_put(struct otlp_tables *self, const struct samples *samples,
			enum sample_kind kind, struct bytes *profile)
{
	for (size_t i = 0; i < samples->kept_count; i++)
		if (samples->kept[i].kind == kind)
			self->weights[samples->kept[i].stack == STACK_NONE
					      ? samples->stack_count
					      : samples->kept[i].stack] +=
				samples->kept[i].weight_ns;
	for (uint32_t i = 0; i <= samples->stack_count; i++) {
		uint32_t stack;

		if (!self->weights[i])
			continue;
		stack = i < samples->stack_count ? stack_index(self, samples, i) : 0;
		proto_number(&self->inner, SAMPLE_STACK, stack);
		packed_put(self, self->weights[i]);
		proto_message(&self->inner, SAMPLE_VALUES, &self->packed);
		proto_message(profile, PROFILE_SAMPLE, &self->inner);
		self->weights[i] = 0;
	}
}

static void profile_put(struct otlp_tables *self, struct model *model, unsigned type,
			struct bytes *scope)
{
	const struct samples *samples = model->samples;
	CLEANUP(bytes_done) struct bytes profile = { 0 };
	unsigned char id[TRACE_ID_BYTES] = { 0 };

	type_put(self, &profile, PROFILE_TYPE, profile_types[type].type);
	samples_put(self, samples, profile_types[type].kind, &profile);
	proto_fixed(&profile, PROFILE_TIME,
		    samples->first_ns + (uint64_t)model_wall_offset_ns(model));
	proto_number(&profile, PROFILE_DURATION, samples->last_ns - samples->first_ns);
	/* Only running samples have a fixed period. */
	if (profile_types[type].kind == SAMPLE_RUNNING && samples->hz) {
		type_put(self, &profile, PROFILE_PERIOD_TYPE, profile_types[type].type);
		proto_number(&profile, PROFILE_PERIOD, 1000000000u / samples->hz);
	}
	(void)!getrandom(id, sizeof(id), 0);
	bytes_put(&self->packed, id, sizeof(id));
	proto_message(&profile, PROFILE_ID, &self->packed);
	proto_message(scope, SCOPE_PROFILE, &profile);
	self->has_failed |= scope->has_failed;
}

/* By OpenTelemetry's names where there are some. */
static const char *attribute_name(const char *label)
{
	static const char *const names[][2] = { { "service_name", "service.name" },
						{ "host", "host.name" },
						{ "namespace", "k8s.namespace.name" },
						{ "pod", "k8s.pod.name" } };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i][0], label))
			return names[i][1];
	return label;
}

static void resource_put(struct bytes *resource_profiles, const struct push_labels *labels)
{
	CLEANUP(bytes_done) struct bytes resource = { 0 }, attribute = { 0 }, value = { 0 };

	for (unsigned i = 0; i < labels->count; i++) {
		/* Names with __ are Pyroscope's own. */
		if (!strncmp(labels->items[i].name, "__", 2))
			continue;
		proto_text(&attribute, ATTRIBUTE_KEY, attribute_name(labels->items[i].name));
		proto_text(&value, VALUE_TEXT, labels->items[i].value);
		proto_message(&attribute, ATTRIBUTE_VALUE, &value);
		proto_message(&resource, 1, &attribute);
	}
	proto_message(resource_profiles, RESOURCE_RESOURCE, &resource);
}

static int otlp_add(struct push_draft *draft, const struct push_labels *labels)
{
	CLEANUP(bytes_done) struct bytes resource = { 0 }, scope = { 0 }, inner = { 0 };
	const struct samples *samples = draft->model->samples;

	if (!draft->otlp)
		draft->otlp = otlp_new(samples);
	if (!draft->otlp)
		return -ENOMEM;
	resource_put(&resource, labels);
	proto_text(&inner, SCOPE_NAME, "limpet");
	proto_message(&scope, SCOPE_SCOPE, &inner);
	for (unsigned i = 0; i < ARRAY_SIZE(profile_types); i++)
		if (samples->kinds[profile_types[i].kind])
			profile_put(draft->otlp, draft->model, i, &scope);
	proto_message(&resource, RESOURCE_SCOPE, &scope);
	proto_message(&draft->body, REQUEST_RESOURCE, &resource);
	return draft->body.has_failed || draft->otlp->has_failed ? -ENOMEM : 0;
}

static int dictionary_put(struct push_draft *draft)
{
	CLEANUP(bytes_done) struct bytes dictionary = { 0 };
	struct otlp_tables *self = draft->otlp;

	for (unsigned i = TABLE_MAPPING; i < TABLES; i++)
		if (i != TABLE_STRING)
			bytes_put(&dictionary, self->tables[i].data, self->tables[i].size);
	for (size_t i = 0; i < self->strings.count; i++)
		proto_text(&dictionary, TABLE_STRING, self->strings.texts[i]);
	proto_message(&draft->body, REQUEST_DICTIONARY, &dictionary);
	return draft->body.has_failed ? -ENOMEM : 0;
}

static int otlp_finish(struct push_draft *draft, struct bytes *ret)
{
	int r = draft->otlp ? dictionary_put(draft) : 0;

	if (!r && draft->otlp)
		r = gzip_put(&draft->body, ret);
	otlp_free(draft->otlp);
	draft->otlp = NULL;
	bytes_done(&draft->body);
	return r;
}

/* The next field of a message: its number, 0 at the end or if it is invalid.  The value of a number
 * is in *ret_number, that of texts and messages between the ends of *ret: the part present.  The
 * cursor has failed if something is missing. */
static unsigned field_next(struct cursor *cursor, uint64_t *ret_number, struct cursor *ret)
{
	bool is_end = cursor->has_failed || cursor->at == cursor->end;
	uint64_t key = is_end ? 0 : cursor_varint(cursor), size = 0, left;

	*ret_number = 0;
	*ret = (struct cursor){ 0 };
	if (is_end)
		return 0;
	if ((key & 7) == WIRE_NUMBER)
		*ret_number = cursor_varint(cursor);
	else if ((key & 7) == WIRE_BYTES)
		size = cursor_varint(cursor);
	else if ((key & 7) == WIRE_FIXED64 || (key & 7) == WIRE_FIXED32)
		cursor_take(cursor, (key & 7) == WIRE_FIXED64 ? 8 : 4);
	else
		cursor->has_failed = true;
	cursor->has_failed |= !(key >> 3) || key >> 3 > UINT32_MAX;
	if (cursor->has_failed)
		return 0;
	left = (uint64_t)(cursor->end - cursor->at);
	ret->at = cursor_take(cursor, (size_t)MIN(size, left));
	ret->end = cursor->at;
	cursor->has_failed = size > left;
	return (unsigned)(key >> 3);
}

/* ExportProfilesPartialSuccess: how many were rejected. */
static uint64_t partial_read(struct cursor *partial, char ret_why[REJECTION_MAX])
{
	uint64_t number, rejected = 0;
	struct cursor text;
	unsigned field;

	while ((field = field_next(partial, &number, &text))) {
		if (field == PARTIAL_REJECTED)
			rejected = number;
		if (field == PARTIAL_MESSAGE)
			snprintf(ret_why, REJECTION_MAX, "%.*s",
				 (int)MIN((size_t)(text.end - text.at), REJECTION_MAX - 1),
				 (const char *)text.at);
	}
	return rejected;
}

/* ExportProfilesServiceResponse. */
static enum push_verdict otlp_judge(const unsigned char *body, size_t size,
				    char ret_why[REJECTION_MAX])
{
	struct cursor answer = { body, body + size, false }, partial;
	uint64_t number, rejected = 0;
	bool is_sound = true;
	unsigned field;

	ret_why[0] = '\0';
	while ((field = field_next(&answer, &number, &partial)))
		if (field == ANSWER_PARTIAL) {
			rejected |= partial_read(&partial, ret_why);
			is_sound &= !partial.has_failed;
		}
	return rejected                         ? PUSH_REJECTED
	       : is_sound && !answer.has_failed ? PUSH_TAKEN
						: PUSH_UNCLEAR;
}

/* As the specification of OTLP/HTTP has it: all else is refused for good. */
static bool otlp_is_passing(unsigned status)
{
	return status == 429 || (status >= 502 && status <= 504);
}

const struct push_format push_format_otlp = {
	.name = "otlp-v1development",
	.path = "/v1development/profiles",
	.content_type = "application/x-protobuf",
	.content_encoding = "gzip",
	.add = otlp_add,
	.finish = otlp_finish,
	.judge = otlp_judge,
	.is_passing = otlp_is_passing,
};
