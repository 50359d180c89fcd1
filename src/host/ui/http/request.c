/*
 * Reads the head of a request.  Every byte has one meaning or is refused: anything ambiguous
 * (folded lines, bare line feeds, two lengths, other encodings of the body) is rejected.
 */
#include "host/ui/http/request.h"

#include <string.h>
#include <strings.h>

#define METHOD_MAX 16u

static const struct {
	const char *name;
	enum http_header header;
} known_headers[] = {
	{ "host", HEADER_HOST },
	{ "origin", HEADER_ORIGIN },
	{ "sec-fetch-site", HEADER_FETCH_SITE },
	{ "sec-fetch-mode", HEADER_FETCH_MODE },
	{ "sec-fetch-dest", HEADER_FETCH_DEST },
	{ "authorization", HEADER_AUTHORIZATION },
	{ "content-type", HEADER_CONTENT_TYPE },
	{ "content-length", HEADER_CONTENT_LENGTH },
	{ "connection", HEADER_CONNECTION },
	{ "transfer-encoding", HEADER_REFUSED },
	{ "te", HEADER_REFUSED },
	{ "trailer", HEADER_REFUSED },
	{ "upgrade", HEADER_REFUSED },
	{ "expect", HEADER_REFUSED },
	{ "content-encoding", HEADER_REFUSED },
};

bool http_text_is(struct http_text text, const char *word)
{
	return text.size == strlen(word) && memcmp(text.at, word, text.size) == 0;
}

bool http_text_is_alike(struct http_text text, const char *word)
{
	return text.size == strlen(word) && strncasecmp(text.at, word, text.size) == 0;
}

static bool byte_is_token(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || (byte && strchr("!#$%&'*+-.^_`|~", byte));
}

/* The characters of a path and a query, including percent signs. */
static bool byte_is_target(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || (byte && strchr("-._~%!$&'()*+,;=:@/?", byte));
}

/* The bytes up to the first that is not one of these. */
static struct http_text text_read_while(struct http_text *rest, bool (*is_one)(char byte))
{
	struct http_text taken = { rest->at, 0 };

	while (taken.size < rest->size && is_one(rest->at[taken.size]))
		taken.size++;
	rest->at += taken.size;
	rest->size -= taken.size;
	return taken;
}

static bool text_read_byte(struct http_text *rest, char byte)
{
	if (!rest->size || *rest->at != byte)
		return false;
	rest->at++;
	rest->size--;
	return true;
}

static int method_parse(struct http_text word, struct http_request *ret)
{
	if (!word.size || word.size > METHOD_MAX)
		return 400;
	ret->method = http_text_is(word, "POST") ? HTTP_POST : HTTP_GET;
	return http_text_is(word, "POST") || http_text_is(word, "GET") ? 0 : 405;
}

static void target_split(struct http_text target, struct http_request *ret)
{
	const char *mark = memchr(target.at, '?', target.size);

	ret->path = target;
	ret->query = (struct http_text){ target.at + target.size, 0 };
	if (!mark)
		return;
	ret->path.size = (size_t)(mark - target.at);
	ret->query = (struct http_text){ mark + 1, target.size - ret->path.size - 1 };
}

/* "GET /path?query HTTP/1.1". */
static int request_line_parse(struct http_text line, struct http_request *ret)
{
	struct http_text method = text_read_while(&line, byte_is_token), target;
	int status = method_parse(method, ret);

	if (status == 400 || !text_read_byte(&line, ' '))
		return 400;
	target = text_read_while(&line, byte_is_target);
	if (!target.size || *target.at != '/' || !text_read_byte(&line, ' '))
		return 400;
	if (!http_text_is(line, "HTTP/1.1"))
		return line.size > 5 && memcmp(line.at, "HTTP/", 5) == 0 ? 505 : 400;
	target_split(target, ret);
	return status;
}

static bool header_find(struct http_text name, enum http_header *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_headers); i++)
		if (http_text_is_alike(name, known_headers[i].name)) {
			*ret = known_headers[i].header;
			return true;
		}
	return false;
}

/* Blanks around a value are no part of it; no other control character, tabs among them, is in it.
 */
static bool value_trim(struct http_text *value)
{
	while (value->size && *value->at == ' ')
		*value = (struct http_text){ value->at + 1, value->size - 1 };
	while (value->size && value->at[value->size - 1] == ' ')
		value->size--;
	for (size_t i = 0; i < value->size; i++)
		if (value->at[i] < ' ' || value->at[i] > '~')
			return false;
	return true;
}

static int header_parse(struct http_text line, struct http_request *ret)
{
	struct http_text name = text_read_while(&line, byte_is_token);
	enum http_header header;

	if (!name.size || !text_read_byte(&line, ':') || !value_trim(&line))
		return 400;
	if (!header_find(name, &header))
		return 0;
	if (header == HEADER_REFUSED || ret->has[header])
		return 400;
	ret->has[header] = true;
	ret->headers[header] = line;
	return 0;
}

/* Digits without a leading zero. */
static int body_size_parse(struct http_request *ret)
{
	struct http_text text = ret->headers[HEADER_CONTENT_LENGTH];

	if (!ret->has[HEADER_CONTENT_LENGTH])
		return ret->method == HTTP_POST ? 411 : 0;
	if (!text.size || (text.size > 1 && *text.at == '0'))
		return 400;
	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return 400;
		ret->body_size = ret->body_size * 10 + (size_t)(text.at[i] - '0');
		if (ret->body_size > HTTP_BODY_MAX)
			return 413;
	}
	return ret->method == HTTP_GET && ret->body_size ? 400 : 0;
}

static int connection_parse(struct http_request *ret)
{
	struct http_text text = ret->headers[HEADER_CONNECTION];

	if (!ret->has[HEADER_CONNECTION])
		return 0;
	ret->is_last = http_text_is_alike(text, "close");
	return ret->is_last || http_text_is_alike(text, "keep-alive") ? 0 : 400;
}

/* The next line without its end; false: a line feed or a zero where none may be. */
static bool line_next(struct http_text *rest, struct http_text *ret)
{
	const char *end = memmem(rest->at, rest->size, "\r\n", 2);

	if (!end)
		return false;
	*ret = (struct http_text){ rest->at, (size_t)(end - rest->at) };
	rest->at += ret->size + 2;
	rest->size -= ret->size + 2;
	return !memchr(ret->at, '\n', ret->size) && !memchr(ret->at, '\r', ret->size) &&
	       !memchr(ret->at, '\0', ret->size);
}

/* Each line of a whole head ends as it should. */
static int head_parse(struct http_text head, struct http_request *ret)
{
	struct http_text line;
	unsigned count = 0;
	int refusal = line_next(&head, &line) ? request_line_parse(line, ret) : 400, status;

	if (refusal && refusal != 405)
		return refusal;
	while (head.size && line_next(&head, &line) && line.size) {
		if (++count > HTTP_HEADERS_MAX)
			return 431;
		status = header_parse(line, ret);
		if (status)
			return status;
	}
	if (head.size || refusal)
		return head.size ? 400 : refusal;
	status = body_size_parse(ret);
	return status ? status : connection_parse(ret);
}

/* Refused before it is whole: a line feed without its carriage return, a zero, a request that does
 * not begin as one. */
static int beginning_check(const char *bytes, size_t size)
{
	if (!byte_is_token(bytes[0]) || memchr(bytes, '\0', size))
		return 400;
	for (const char *at = bytes; (at = memchr(at, '\n', size - (size_t)(at - bytes))); at++)
		if (at == bytes || at[-1] != '\r')
			return 400;
	return size >= HTTP_HEAD_MAX ? 431 : HTTP_INCOMPLETE;
}

int http_request_parse(const char *bytes, size_t size, struct http_request *ret)
{
	const char *end = memmem(bytes, MIN(size, HTTP_HEAD_MAX), "\r\n\r\n", 4);

	*ret = (struct http_request){ 0 };
	if (!size)
		return HTTP_INCOMPLETE;
	if (!end)
		return beginning_check(bytes, MIN(size, HTTP_HEAD_MAX));
	ret->head_size = (size_t)(end - bytes) + 4;
	return head_parse((struct http_text){ bytes, ret->head_size }, ret);
}
