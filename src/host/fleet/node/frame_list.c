/*
 * A tree of calls that only grows.  Runs on nodes.
 */
#include "host/fleet/node/frame_list.h"

#include <errno.h>

static int text_find(struct frame_list *self, const char *text, uint32_t *ret)
{
	size_t before = self->texts.count;

	*ret = pool_add(&self->texts, text);
	if (*ret == POOL_NONE)
		return -ENOMEM;
	if (self->texts.count > before)
		frames_add_text(&self->untold, text);
	return 0;
}

int frame_list_find(struct frame_list *self, uint32_t parent, const struct frame_call *call,
		    uint32_t *ret)
{
	struct frame_node node = { .parent = parent, .line = call->line, .kind = call->kind };
	struct table_entry *entry;
	bool is_new;

	if (text_find(self, call->function, &node.function) ||
	    text_find(self, call->module, &node.module) || text_find(self, call->file, &node.file))
		return -ENOMEM;
	entry = table_make(&self->nodes, (uint64_t)(uint32_t)(parent + 1) << 32 | node.function,
			   (uint64_t)node.module << 32 | node.line, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = self->node_count++;
		frames_add_node(&self->untold, &node);
	}
	*ret = (uint32_t)entry->value;
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
	pool_done(&self->texts);
	table_done(&self->nodes);
	bytes_done(&self->untold.texts);
	bytes_done(&self->untold.nodes);
	*self = (struct frame_list){ 0 };
}
