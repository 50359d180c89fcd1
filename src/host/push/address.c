/*
 * Parses addresses.  Names other than localhost are left to curl: a static program has no resolver.
 */
#include "host/push/address.h"

#include "host/core/text/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/* Without the parts that may hold a password or a key, before the last '@' and in a query: messages
 * end up in logs. */
static int address_refuse(const char *url, const char *why, const char *fix, struct err *err)
{
	const char *scheme = strstr(url, "://"), *sign = strrchr(url, '@');
	const char *host = sign ? sign : scheme ? scheme + 3 : url;
	int scheme_size = scheme && scheme < host ? (int)(scheme + 3 - url) : 0;

	err_set(err, -EINVAL, "'%.*s%s%.*s' is no address that profiles can be pushed to",
		scheme_size, url, sign ? "***" : "", (int)strcspn(host, "?#"), host);
	err_why(err, "%s", why);
	err_fix(err, "%s", fix);
	return err_exit(err, EXIT_USAGE);
}

/* Nothing in it may end a line of HTTP, or a word of a shell. */
static bool is_plain(const char *url)
{
	for (; *url; url++)
		if (*url <= ' ' || *url >= 127 || strchr("\"'`\\<>{}|^", *url))
			return false;
	return true;
}

static bool host_split(struct text host, struct text *ret_name, uint64_t *ret_port)
{
	const char *end;

	*ret_port = 80;
	if (text_take_char(&host, '[')) {
		end = memchr(host.at, ']', (size_t)(host.end - host.at));
		if (!end)
			return false;
		*ret_name = (struct text){ host.at, end };
		host.at = end + 1;
	} else {
		end = memchr(host.at, ':', (size_t)(host.end - host.at));
		*ret_name = (struct text){ host.at, end ? end : host.end };
		host.at = end ? end : host.end;
	}
	if (host.at == host.end)
		return ret_name->end > ret_name->at;
	return text_take_char(&host, ':') && text_take_number(&host, 10, ret_port) &&
	       host.at == host.end && *ret_port && *ret_port <= UINT16_MAX &&
	       ret_name->end > ret_name->at;
}

/* False: it is a name. */
static bool socket_find(const char *name, uint16_t port, struct push_address *ret)
{
	struct sockaddr_in *four = (struct sockaddr_in *)&ret->socket;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&ret->socket;

	if (inet_pton(AF_INET, strcmp(name, "localhost") ? name : "127.0.0.1", &four->sin_addr) ==
	    1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		ret->socket_size = sizeof(*four);
		return true;
	}
	if (inet_pton(AF_INET6, name, &six->sin6_addr) != 1)
		return false;
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	ret->socket_size = sizeof(*six);
	return true;
}

/* Appends the call's path to the given one, unless that ends with it already. */
static bool path_set(struct text given, struct push_address *ret)
{
	const char *path = ret->format->path;
	size_t size, call = strlen(path);

	while (given.end > given.at && given.end[-1] == '/')
		given.end--;
	size = (size_t)(given.end - given.at);
	if (size + call >= sizeof(ret->path))
		return false;
	memcpy(ret->path, given.at, size);
	ret->path[size] = '\0';
	if (size < call || strcmp(ret->path + size - call, path))
		memcpy(ret->path + size, path, call + 1);
	return true;
}

static int parts_find(const char *url, struct text rest, bool is_tls, struct push_address *ret,
		      struct err *err)
{
	static const char form[] = "limpet push http://127.0.0.1:4040 -p PID";
	const char *slash = memchr(rest.at, '/', (size_t)(rest.end - rest.at));
	struct text host = { rest.at, slash ? slash : rest.end }, name;
	char name_text[ADDRESS_HOST_MAX];
	uint64_t port;

	if (memchr(rest.at, '@', (size_t)(rest.end - rest.at)))
		return address_refuse(
			url, "every user here can read names and passwords of a command line",
			"put them into ~/.netrc, which curl reads, and use https", err);
	if (memchr(rest.at, '?', (size_t)(rest.end - rest.at)) ||
	    memchr(rest.at, '#', (size_t)(rest.end - rest.at)))
		return address_refuse(url, "it has a query", "leave out what follows ? or #", err);
	if (!host_split(host, &name, &port) || (size_t)(host.end - host.at) >= sizeof(ret->host))
		return address_refuse(url, "there is no host, or no port, in it", form, err);
	text_copy(host, ret->host, sizeof(ret->host));
	text_copy(name, name_text, sizeof(name_text));
	if (!path_set((struct text){ host.end, rest.end }, ret))
		return address_refuse(url, "it is too long", form, err);
	ret->is_direct = !is_tls && socket_find(name_text, (uint16_t)port, ret);
	snprintf(ret->url, sizeof(ret->url), "http%s://%s%s", is_tls ? "s" : "", ret->host,
		 ret->path);
	return 0;
}

int push_address_parse(const char *url, const struct push_format *format, struct push_address *ret,
		       struct err *err)
{
	struct text rest = text_of(url);
	bool is_tls;

	*ret = (struct push_address){ .format = format };
	if (!is_plain(url))
		return address_refuse(url, "it has characters that no address has",
				      "limpet push http://127.0.0.1:4040 -p PID", err);
	is_tls = text_take_prefix(&rest, "https://");
	if (!is_tls && !text_take_prefix(&rest, "http://"))
		return address_refuse(url, "it begins neither with http:// nor with https://",
				      "limpet push http://127.0.0.1:4040 -p PID", err);
	return parts_find(url, rest, is_tls, ret, err);
}
