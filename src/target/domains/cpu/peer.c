/*
 * Formats socket addresses. Runs inside traced calls: no libc.
 */
#include "target/domains/cpu/peer.h"

#include "target/runtime/text.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

static uint16_t number_swapped(uint16_t number)
{
	return (uint16_t)(number << 8 | number >> 8);
}

static size_t add_hex(char *text, size_t room, size_t at, unsigned number)
{
	static const char digits[] = "0123456789abcdef";
	bool has_begun = false;

	for (int shift = 12; shift >= 0; shift -= 4) {
		unsigned digit = number >> shift & 15;

		has_begun |= digit || !shift;
		if (has_begun)
			at = text_add(text, room, at, (char[]){ digits[digit], 0 });
	}
	return at;
}

static size_t add_port(char *text, size_t room, size_t at, in_port_t port)
{
	at = text_add(text, room, at, ":");
	return text_add_number(text, room, at, number_swapped(port));
}

static void describe_inet(const struct sockaddr_in *peer, char *text, size_t room)
{
	const unsigned char *bytes = (const unsigned char *)&peer->sin_addr;
	size_t at = 0;

	for (unsigned i = 0; i < 4; i++) {
		at = text_add(text, room, at, i ? "." : "");
		at = text_add_number(text, room, at, bytes[i]);
	}
	add_port(text, room, at, peer->sin_port);
}

static void describe_inet6(const struct sockaddr_in6 *peer, char *text, size_t room)
{
	size_t at = text_add(text, room, 0, "[");

	for (unsigned i = 0; i < 8; i++) {
		at = text_add(text, room, at, i ? ":" : "");
		at = add_hex(text, room, at, number_swapped(peer->sin6_addr.s6_addr16[i]));
	}
	at = text_add(text, room, at, "]");
	add_port(text, room, at, peer->sin6_port);
}

static void describe_unix(const struct sockaddr_un *peer, uint32_t size, char *text, size_t room)
{
	size_t at = text_add(text, room, 0, "unix:");
	uint32_t i = offsetof(struct sockaddr_un, sun_path);

	for (const char *path = peer->sun_path; i < size; i++, path++) {
		if (!*path && path != peer->sun_path)
			break;
		at = text_add(text, room, at, (char[]){ *path ? *path : '@', 0 });
	}
}

void peer_describe(const void *address, uint32_t size, char *text, size_t room)
{
	const struct sockaddr *peer = address;

	text[0] = 0;
	if (!peer || size < sizeof(peer->sa_family))
		return;
	if (peer->sa_family == AF_INET && size >= sizeof(struct sockaddr_in))
		describe_inet(address, text, room);
	else if (peer->sa_family == AF_INET6 && size >= sizeof(struct sockaddr_in6))
		describe_inet6(address, text, room);
	else if (peer->sa_family == AF_UNIX)
		describe_unix(address, MIN(size, (uint32_t)sizeof(struct sockaddr_un)), text, room);
}
