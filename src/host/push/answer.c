/*
 * Parses answers of HTTP/1: the status, four fields, and how the body begins.
 */
#include "host/push/answer.h"

#include "host/core/text/text.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define RETRY_AFTER_MAX_S 3600u

struct head {
	unsigned status;
	uint64_t body_bytes, retry_after_s; /* UINT64_MAX, 0: not in the head */
	bool is_chunked, is_page;
	const char *end;
};

static bool status_parse(struct text *head, unsigned *ret)
{
	struct text line, word;
	uint64_t status;

	if (!text_take_line(head, &line) || !text_take_prefix(&line, "HTTP/") ||
	    !text_take_word(&line, &word))
		return false;
	text_skip_blanks(&line);
	if (!text_take_number(&line, 10, &status) || status < 100 || status > 599)
		return false;
	*ret = (unsigned)status;
	return true;
}

/* Skips the name of a field, which ends in a colon. */
static bool field_begins(struct text *line, const char *name)
{
	size_t length = strlen(name);

	if ((size_t)(line->end - line->at) < length || strncasecmp(line->at, name, length))
		return false;
	line->at += length;
	text_skip_blanks(line);
	return true;
}

static void field_read(struct text line, const char *name, uint64_t *ret)
{
	uint64_t value;

	if (field_begins(&line, name) && text_take_number(&line, 10, &value))
		*ret = value;
}

static bool line_has(struct text line, const char *name, const char *value)
{
	return field_begins(&line, name) && field_begins(&line, value);
}

/* After the empty line; NULL: not received yet. */
static const char *head_find_end(const char *bytes, size_t size)
{
	const char *line = bytes, *end = bytes + size, *newline;

	while ((newline = memchr(line, '\n', (size_t)(end - line)))) {
		if (newline == line || (newline == line + 1 && *line == '\r'))
			return newline + 1;
		line = newline + 1;
	}
	return NULL;
}

static int head_parse(const char *bytes, size_t size, struct head *ret)
{
	const char *end = head_find_end(bytes, MIN(size, ANSWER_HEAD_MAX));
	struct text text = { bytes, end }, line;

	*ret = (struct head){ .body_bytes = UINT64_MAX, .end = end };
	if (!end)
		return size >= ANSWER_HEAD_MAX ? -EPROTO : -EAGAIN;
	if (!status_parse(&text, &ret->status))
		return -EPROTO;
	while (text_take_line(&text, &line)) {
		field_read(line, "content-length:", &ret->body_bytes);
		field_read(line, "retry-after:", &ret->retry_after_s);
		ret->is_page |= line_has(line, "content-type:", "text/html");
		ret->is_chunked |= line_has(line, "transfer-encoding:", "chunked");
	}
	return 0;
}

static void body_add(struct push_answer *ret, const char *bytes, size_t size)
{
	size_t taken = MIN(size, ANSWER_BODY_MAX - ret->body_size);

	memcpy(ret->body + ret->body_size, bytes, taken);
	ret->body_size += taken;
}

/* The size of a chunk, on a line of its own.  False: not received yet.  An invalid line is left to
 * be read as the chunk itself, with all that follows. */
static bool chunk_begin(struct text *raw, uint64_t *ret_size)
{
	const char *newline = memchr(raw->at, '\n', (size_t)(raw->end - raw->at));
	struct text line = { raw->at, newline };

	*ret_size = UINT64_MAX;
	if (newline && text_take_number(&line, 16, ret_size))
		raw->at = newline + 1;
	return newline;
}

/* True when enough was received: as much as is kept, or the last one. */
static bool chunks_read(struct text raw, struct push_answer *ret)
{
	uint64_t size;

	while (ret->body_size < ANSWER_BODY_MAX && chunk_begin(&raw, &size)) {
		size_t left = (size_t)(raw.end - raw.at);

		if (!size)
			return true;
		body_add(ret, raw.at, (size_t)MIN(size, left));
		if (size >= left)
			break;
		raw.at += size;
		/* The end of the line. */
		raw.at += *raw.at == '\r';
		raw.at += raw.at < raw.end && *raw.at == '\n';
	}
	return ret->body_size == ANSWER_BODY_MAX;
}

/* True when the body is longer than what is kept: the rest is discarded. */
static bool is_longer(const struct head *head, const struct push_answer *answer)
{
	bool is_known = !head->is_chunked && head->body_bytes <= ANSWER_BODY_MAX;

	return answer->body_size == ANSWER_BODY_MAX && !is_known;
}

/* True when enough was received. */
static bool body_read(const struct head *head, const char *end, struct push_answer *ret)
{
	size_t size = (size_t)(end - head->end);

	if (head->status == 204)
		return true;
	if (head->is_chunked)
		return chunks_read((struct text){ head->end, end }, ret);
	body_add(ret, head->end, (size_t)MIN(size, head->body_bytes));
	return ret->body_size == MIN(head->body_bytes, ANSWER_BODY_MAX);
}

int push_answer_parse(const char *bytes, size_t size, bool is_end, bool wants_body,
		      struct push_answer *ret)
{
	const char *end = bytes + size;
	struct head head;
	int r = head_parse(bytes, size, &head);

	/* "100 Continue" precedes the answer. */
	while (!r && head.status < 200) {
		bytes = head.end;
		r = head_parse(bytes, (size_t)(end - bytes), &head);
	}
	if (r)
		return r == -EAGAIN && is_end ? -EPROTO : r;
	*ret = (struct push_answer){ .status = head.status,
				     .is_page = head.is_page,
				     .retry_after_s = MIN(head.retry_after_s, RETRY_AFTER_MAX_S) };
	if (body_read(&head, end, ret)) {
		ret->is_cut = is_longer(&head, ret);
	} else {
		if (!is_end && (wants_body || !push_answer_is_good(ret)))
			return -EAGAIN;
		ret->is_cut = head.is_chunked || head.body_bytes != UINT64_MAX;
	}
	if (!push_answer_is_good(ret))
		text_copy_printable((struct text){ (const char *)ret->body,
						   (const char *)ret->body + ret->body_size },
				    ret->text, sizeof(ret->text));
	return 0;
}
