/*
 * Writes marker calls. Runs inside traced calls: no libc. An application whose markers are never
 * read may pass bad pointers unnoticed: a system call probes memory before it is read.
 */
#include "target/domains/marker.h"

#include "target/hooks/probe.h"

#define PAGE_BYTES 4096u /* the smallest page size */
#define WORD_BYTES 8u

static bool page_is_readable(const char *at)
{
	return probe_can_read((uint64_t)(uintptr_t)at & ~(uint64_t)(WORD_BYTES - 1));
}

bool marker_can_read(const void *at, size_t size)
{
	const char *first = at, *last = first + size - 1;

	if (!page_is_readable(first))
		return false;
	return ((uintptr_t)first ^ (uintptr_t)last) < PAGE_BYTES || page_is_readable(last);
}

void marker_write_text(struct writer *writer, const char *text)
{
	size_t length = 0;

	if (!text || !page_is_readable(text))
		return;
	while (length < RECORD_TEXT_MAX && text[length]) {
		length++;
		if ((uintptr_t)(text + length) % PAGE_BYTES == 0 &&
		    !page_is_readable(text + length))
			break;
	}
	writer_text(writer, text, length);
}

bool marker_write_call(struct writer *writer, const struct hook *hook,
		       const struct hook_frame *frame, uint64_t end)
{
	return probe_is_decided() && hook_write_call(writer, hook, frame, end);
}

void marker_write_message(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end)
{
	if (marker_write_call(writer, hook, frame, end))
		marker_write_text(writer, (const char *)frame->arguments[0]);
}
