/*
 * Parses answers of HTTP/1: the status, two fields, and how the body begins.
 */
#include "host/push/answer.h"

#include "host/core/text/text.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define RETRY_AFTER_MAX_S 3600u

struct head {
	unsigned status;
	uint64_t body_bytes, retry_after_s; /* UINT64_MAX, 0: it does not say */
	const char *end;
};

static bool status_take(struct text *head, unsigned *ret)
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

static bool field_take(struct text line, const char *name, uint64_t *ret)
{
	size_t length = strlen(name);
	uint64_t value;

	if ((size_t)(line.end - line.at) < length || strncasecmp(line.at, name, length))
		return false;
	line.at += length;
	text_skip_blanks(&line);
	if (!text_take_number(&line, 10, &value))
		return false;
	*ret = value;
	return true;
}

/* Behind the empty line; NULL: it has not come. */
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
	if (!status_take(&text, &ret->status))
		return -EPROTO;
	while (text_take_line(&text, &line))
		if (!field_take(line, "content-length:", &ret->body_bytes))
			(void)!field_take(line, "retry-after:", &ret->retry_after_s);
	return 0;
}

int push_answer_parse(const char *bytes, size_t size, bool is_end, struct push_answer *ret)
{
	const char *end = bytes + size;
	struct head head;
	size_t body;
	int r = head_parse(bytes, size, &head);

	/* "100 Continue" comes before the answer. */
	while (!r && head.status < 200) {
		bytes = head.end;
		r = head_parse(bytes, (size_t)(end - bytes), &head);
	}
	if (r)
		return r == -EAGAIN && is_end ? -EPROTO : r;
	body = MIN((size_t)(end - head.end), ANSWER_BODY_MAX);
	*ret = (struct push_answer){ .status = head.status,
				     .retry_after_s = MIN(head.retry_after_s, RETRY_AFTER_MAX_S) };
	/* A body without a length may never end: where all is well it is not waited for. */
	if (push_answer_is_good(ret) && head.body_bytes > ANSWER_BODY_MAX)
		head.body_bytes = 0;
	if (!is_end && body < MIN(head.body_bytes, ANSWER_BODY_MAX))
		return -EAGAIN;
	if (push_answer_is_good(ret)) {
		memcpy(ret->body, head.end, body);
		ret->body_size = body;
		return 0;
	}
	text_copy_printable((struct text){ head.end, head.end + body }, ret->text,
			    sizeof(ret->text));
	return 0;
}

bool push_answer_is_passing(const struct push_answer *answer)
{
	return answer->status == 408 || answer->status == 429 || answer->status >= 500;
}
