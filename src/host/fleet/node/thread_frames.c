/*
 * Decides which lines of a stack distinguish ranks.  Runs on nodes.
 */
#include "host/fleet/node/thread_frames.h"

#include "host/core/text/path.h"
#include "host/model/samples/languages.h"
#include "host/recorder/samples/code_list.h"

#include <string.h>

static bool is_library(const char *module)
{
	const char *end = strstr(module, ".so");

	return !strcmp(module, "[vdso]") || !strcmp(module, "[kernel]") ||
	       (end && (!end[3] || end[3] == '.'));
}

static enum frame_kind kind_of(const struct dump *dump, const struct dumped_thread *thread,
			       size_t frame)
{
	const struct recorded_code *code =
		code_list_code(dump->codes, thread->recorded[frame].code);

	if (language_of_path(code->path) != LANGUAGE_NATIVE)
		return FRAME_SCRIPT;
	return is_library(thread->frames[frame].module) ? FRAME_LIBRARY : FRAME_PROGRAM;
}

/* The interpreter's modules are those below which the outermost script was called. */
static bool is_interpreter(const struct dumped_thread *thread, size_t outermost, size_t frame)
{
	for (size_t i = outermost + 1; i < thread->frame_count; i++)
		if (thread->recorded[i].code == thread->recorded[frame].code)
			return true;
	return false;
}

/* The number of innermost frames with irrelevant lines.  What an interpreter does within a script's
 * line is not a call of the script. */
static size_t count_unsteady(const struct dump *dump, const struct dumped_thread *thread)
{
	size_t script = thread->frame_count, outermost = 0;

	if (thread->facts.state != 'R')
		return 0;
	for (size_t i = thread->frame_count; i--;)
		if (kind_of(dump, thread, i) == FRAME_SCRIPT) {
			outermost = script == thread->frame_count ? i : outermost;
			script = i;
		}
	if (script == thread->frame_count)
		return 1;
	for (size_t i = 0; i < script; i++)
		if (!is_interpreter(thread, outermost, i))
			return 1;
	return script + 1;
}

int thread_frames_add(struct frame_list *frames, const struct dump *dump,
		      const struct dumped_thread *thread, uint32_t *ret)
{
	size_t unsteady = count_unsteady(dump, thread);
	int r = 0;

	*ret = FRAME_ROOT;
	for (size_t i = thread->frame_count; !r && i--;) {
		const struct dumped_frame *frame = &thread->frames[i];

		for (uint32_t k = frame->name_count; !r && k--;) {
			const struct recorded_name *name = &frame->names[k];
			/* An inlined function was called at a line. */
			bool is_steady = i >= unsteady || k;
			struct frame_call call = {
				.function = name->function,
				.module = frame->module,
				.file = is_steady ? path_base_name(name->file) : "",
				.line = is_steady ? name->line : 0,
				.kind = kind_of(dump, thread, i),
			};

			r = frame_list_find(frames, *ret, &call, ret);
		}
	}
	return r;
}
