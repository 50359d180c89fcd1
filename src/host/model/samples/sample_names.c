/*
 * Names of the frames of samples: functions and locations, each kept once.  Frames that got none,
 * as limpet was killed before its end, get theirs from the files of this machine, where they are
 * the same.
 */
#include "host/model/samples/samples.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "host/core/room.h"
#include "host/core/table.h"

/* limpet writes no longer ones. */
#define NAME_BYTES_MAX 8192u

/* The function of this name and code, made when it is not there. */
static int find_function(struct samples *self, const char *name, uint32_t code, bool is_named,
			 uint32_t *ret)
{
	uint32_t text = pool_add(&self->texts, name);
	struct table_entry *entry;
	bool is_new;

	if (text == POOL_NONE || make_room(&self->functions, self->function_count,
					   &self->function_room, sizeof(*self->functions)))
		return -ENOMEM;
	entry = table_make(self->function_table, text, code, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = self->function_count;
		self->functions[self->function_count++] =
			(struct sample_function){ pool_text(&self->texts, text), code, is_named };
	}
	*ret = (uint32_t)entry->value;
	return 0;
}

static int add_location(struct samples *self, uint32_t code, const struct recorded_name *name,
			bool is_named)
{
	struct sample_location location = { .line = name->line,
					    .file = pool_keep(&self->texts, name->file) };
	int r = find_function(self, name->function, code, is_named, &location.function);

	if (r || !location.file ||
	    make_room(&self->locations, self->location_count, &self->location_room,
		      sizeof(*self->locations)))
		return -ENOMEM;
	self->locations[self->location_count++] = location;
	return 0;
}

/* "libfoo.so+0x1234": limpet's own text for a frame without a name. */
static bool is_a_location(const struct sample_code *code, const char *name)
{
	size_t length = strlen(code->name);

	return strncmp(name, code->name, length) == 0 && strncmp(name + length, "+0x", 3) == 0;
}

int samples_set_names(struct samples *self, struct sample_frame *frame,
		      const struct recorded_name *names, uint32_t count)
{
	const struct sample_code *code = &self->codes[frame->code];

	frame->first_location = (uint32_t)self->location_count;
	frame->location_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (add_location(self, frame->code, &names[i],
				 !is_a_location(code, names[i].function)))
			return -ENOMEM;
		frame->location_count++;
	}
	return 0;
}

static bool are_short(const struct recorded_name *names, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (strlen(names[i].function) > NAME_BYTES_MAX ||
		    strlen(names[i].file) > NAME_BYTES_MAX)
			return false;
	return true;
}

int samples_read_names(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct samples *self = model->samples;
	struct recorded_name names[FRAME_NAMES_MAX];
	struct numbered_head head;
	uint32_t frame, name_count;

	if (numbered_read(&cursor, &head) || head.count > (size_t)(cursor.end - cursor.at))
		return -EPROTO;
	for (uint32_t i = 0; i < head.count; i++) {
		if (names_unpack(&cursor, &frame, names, &name_count) ||
		    frame >= self->frame_count || !are_short(names, name_count))
			return -EPROTO;
		if (self->location_count + name_count > MIN(model->records_max, UINT32_MAX - 1))
			return -EFBIG;
		self->unnamed -= self->frames[frame].is_unnamed;
		self->frames[frame].is_unnamed = false;
		if (samples_set_names(self, &self->frames[frame], names, name_count))
			return -ENOMEM;
	}
	return 0;
}

int sample_name_by_location(struct samples *self, struct sample_frame *frame)
{
	const struct sample_code *code = &self->codes[frame->code];
	struct recorded_name name = { .file = "" };
	char text[NAME_MAX + 32];

	snprintf(text, sizeof(text), "%s+0x%" PRIx64, code->name, frame->address);
	name.function = text;
	frame->first_location = (uint32_t)self->location_count;
	if (add_location(self, frame->code, &name, /* is_named */ false))
		return -ENOMEM;
	frame->location_count = 1;
	frame->is_unnamed = true;
	self->unnamed++;
	return 0;
}

int samples_open_codes(const struct samples *samples, size_t first, struct symbolizer *symbolizer)
{
	int r = 0;

	for (size_t i = first; r >= 0 && i < samples->code_count; i++) {
		const struct sample_code *code = &samples->codes[i];
		bool is_known = code->kind == CODE_FILE && code->build_id_size;
		struct symbol_origin origin = { .path = is_known ? code->path : "",
						.build_id = code->build_id,
						.build_id_size = code->build_id_size };

		r = symbolizer_module(symbolizer, is_known ? CODE_FILE : CODE_UNKNOWN, &origin);
	}
	return r < 0 ? r : 0;
}

static int name_frame(struct samples *samples, struct symbolizer *symbolizer,
		      struct sample_frame *frame)
{
	struct recorded_name names[FRAME_NAMES_MAX];
	struct code_names found;

	if (symbolizer_find(symbolizer, frame->code, frame->address - frame->is_return,
			    /* wants_lines */ false, &found))
		return -ENOMEM;
	if (!found.is_named)
		return 0;
	for (size_t i = 0; i < found.count; i++)
		names[i] = (struct recorded_name){ found.items[i].function, found.items[i].file,
						   found.items[i].line };
	return samples_set_names(samples, frame, names, (uint32_t)found.count);
}

int model_name_late(struct model *model)
{
	struct samples *samples = model->samples;
	struct symbolizer *symbolizer;
	int r;

	if (!samples->unnamed)
		return 0;
	symbolizer = symbolizer_new();
	r = symbolizer ? samples_open_codes(samples, 0, symbolizer) : -ENOMEM;
	for (size_t i = 0; !r && i < samples->frame_count; i++)
		if (samples->frames[i].is_unnamed)
			r = name_frame(samples, symbolizer, &samples->frames[i]);
	symbolizer_free(symbolizer);
	return r;
}
