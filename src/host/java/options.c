/*
 * Reads options from /proc.  The bytes are the target's.
 */
#include "host/java/options.h"

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/process/procfs.h"

#include <stdlib.h>
#include <string.h>

#define ON  "-XX:+PreserveFramePointer"
#define OFF "-XX:-PreserveFramePointer"

/* Of one argument, or of the value of a variable. */
static bool read_options(struct text options, bool is_so_far)
{
	struct text option;

	while (text_take_word(&options, &option))
		is_so_far = text_equals(option, ON) || (is_so_far && !text_equals(option, OFF));
	return is_so_far;
}

static bool skip_variable_name(struct text *entry)
{
	return text_take_prefix(entry, "JAVA_TOOL_OPTIONS=") ||
	       text_take_prefix(entry, "JDK_JAVA_OPTIONS=") ||
	       text_take_prefix(entry, "_JAVA_OPTIONS=");
}

bool java_options_keep_frame_pointers(const char *bytes, size_t size, bool are_variables,
				      bool is_so_far)
{
	struct text all = { bytes, bytes + size };

	while (all.at < all.end) {
		struct text entry = { all.at,
				      all.at + strnlen(all.at, (size_t)(all.end - all.at)) };

		all.at = entry.end + (entry.end < all.end);
		if (!are_variables || skip_variable_name(&entry))
			is_so_far = read_options(entry, is_so_far);
	}
	return is_so_far;
}

static bool read_file(pid_t pid, const char *name, bool are_variables, bool is_so_far)
{
	CLEANUP(free) char *bytes = NULL;
	struct err err = { 0 };
	size_t size;

	if (proc_read(pid, name, &bytes, &size, &err))
		return is_so_far;
	return java_options_keep_frame_pointers(bytes, size, are_variables, is_so_far);
}

bool java_keeps_frame_pointers(pid_t pid)
{
	bool is_kept = read_file(pid, "cmdline", /* are_variables */ false, false);

	return read_file(pid, "environ", /* are_variables */ true, is_kept);
}
