/*
 * Finds calls, and notes new ones for home.  Runs on nodes.
 */
#include "host/fleet/node/frame_list.h"

#include <errno.h>

static uint32_t text_find(struct frame_list *self, const char *text)
{
	size_t before = self->paths.texts.count;
	uint32_t number = pool_add(&self->paths.texts, text);

	if (self->paths.texts.count > before)
		frames_add_text(&self->untold, text);
	return number;
}

/* Home numbers nodes without the root. */
int frame_list_find(struct frame_list *self, uint32_t parent, const struct frame_call *call,
		    uint32_t *ret)
{
	struct path_frame frame = { .line = call->line, .kind = call->kind };
	size_t before = MAX(self->paths.tree.count, 1u);
	uint32_t path = PATH_NONE;

	frame.function = text_find(self, call->function);
	frame.module = text_find(self, call->module);
	frame.file = text_find(self, call->file);
	if (frame.function != POOL_NONE && frame.module != POOL_NONE && frame.file != POOL_NONE)
		path = call_paths_find(&self->paths, parent + 1, &frame);
	if (path == PATH_NONE)
		return -ENOMEM;
	if (path >= before)
		frames_add_node(&self->untold,
				&(struct frame_node){ parent, frame.function, frame.module,
						      frame.file, frame.line, frame.kind });
	*ret = path - 1;
	return 0;
}

bool frame_list_put(struct frame_list *self, struct bytes *message)
{
	if (!self->untold.text_count && !self->untold.node_count)
		return false;
	frames_put(message, &self->untold);
	return true;
}

void frame_list_done(struct frame_list *self)
{
	call_paths_done(&self->paths);
	bytes_done(&self->untold.texts);
	bytes_done(&self->untold.nodes);
	*self = (struct frame_list){ 0 };
}
