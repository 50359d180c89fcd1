/*
 * Checks the messages between the two processes of `limpet ui`.
 */
#include "host/ui/request/command.h"

#include <errno.h>
#include <string.h>

static const char *const kind_names[UI_KINDS] = {
	[UI_CPU] = "cpu",   [UI_OFF_CPU] = "off-cpu", [UI_RUNNABLE] = "runnable",
	[UI_WALL] = "wall", [UI_ALLOC] = "alloc",     [UI_GPU] = "gpu",
	[UI_LOCK] = "lock", [UI_IO] = "io",
};

const char *ui_kind_name(enum ui_kind kind)
{
	return kind_names[kind];
}

int ui_kind_find(const char *name)
{
	for (int i = 0; i < UI_KINDS; i++)
		if (strcmp(kind_names[i], name) == 0)
			return i;
	return -1;
}

static bool text_ends(const char *text, size_t room)
{
	return memchr(text, '\0', room);
}

static bool range_is_sound(const struct ui_range *range)
{
	return range->thread_count <= UI_THREADS_MAX && range->from_ns <= UI_TIME_MAX &&
	       range->to_ns <= UI_TIME_MAX;
}

static bool wish_is_sound(const struct ui_wish *wish)
{
	if (wish->pid < 0 || wish->hz > UI_HZ_MAX || wish->trace_count > UI_TRACES_MAX ||
	    wish->has_start > 1 || wish->off_cpu > 1 || wish->children > 1 || wish->is_recorded > 1)
		return false;
	for (unsigned i = 0; i < UI_TRACES_MAX; i++)
		if (!text_ends(wish->traces[i], UI_TRACE_MAX))
			return false;
	return true;
}

static bool command_is_sound(const struct ui_command *command)
{
	return command->magic == UI_MAGIC && command->verb < UI_VERBS && command->kind < UI_KINDS &&
	       command->width <= UI_WIDTH_MAX && command->cell_ms >= 1 &&
	       command->cell_ms <= UI_CELL_MS_MAX && command->time_ns <= UI_TIME_MAX &&
	       command->since <= UI_TIME_MAX && command->is_json <= 1 &&
	       command->is_inverted <= 1 && command->is_by_thread <= 1 &&
	       command->is_size_only <= 1 && command->is_hidden <= 1 &&
	       range_is_sound(&command->range) && range_is_sound(&command->other) &&
	       wish_is_sound(&command->wish) && text_ends(command->name, UI_NAME_MAX) &&
	       text_ends(command->module, UI_MODULE_MAX) &&
	       text_ends(command->format, UI_FORMAT_MAX);
}

int ui_command_check(const void *bytes, size_t size, struct ui_command *ret)
{
	if (size != sizeof(*ret))
		return -EPROTO;
	memcpy(ret, bytes, sizeof(*ret));
	return command_is_sound(ret) ? 0 : -EPROTO;
}

/* Letters that need no thought in a header. */
static bool file_name_is_sound(const char *name)
{
	for (; *name; name++)
		if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
		      (*name >= '0' && *name <= '9') || strchr("._-", *name)))
			return false;
	return true;
}

int ui_answer_check(const void *bytes, size_t size, struct ui_answer *ret)
{
	if (size != sizeof(*ret))
		return -EPROTO;
	memcpy(ret, bytes, sizeof(*ret));
	return ret->magic == UI_MAGIC && ret->type < UI_TYPES && ret->status >= 200 &&
			       ret->status <= 599 && text_ends(ret->file, UI_FILE_NAME_MAX) &&
			       file_name_is_sound(ret->file)
		       ? 0
		       : -EPROTO;
}
