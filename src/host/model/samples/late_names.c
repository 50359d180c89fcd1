/*
 * Names for frames that got none, as limpet was killed before its end: from the files of this
 * machine, where they are the same ones.
 */
#include <errno.h>

#include "host/model/samples/samples.h"

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
