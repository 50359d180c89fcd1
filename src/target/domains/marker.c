/*
 * Runs inside traced calls: no libc.
 */
#include "target/domains/marker.h"

void marker_write_text(struct writer *writer, const char *text)
{
	size_t length = 0;

	if (!text)
		return;
	while (length < RECORD_TEXT_MAX && text[length])
		length++;
	writer_text(writer, text, length);
}

void marker_write_message(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end)
{
	if (hook_write_call(writer, hook, frame, end))
		marker_write_text(writer, (const char *)frame->arguments[0]);
}
