/*
 * Names of sockets.  Addresses stand in /proc/PID/net as hexadecimal words of the machine's own
 * byte order, ports as numbers.
 */
#include "host/collect/sockets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/core/text/text.h"
#include "host/process/procfs.h"

#define READ_SHARE 20 /* reading may take one part in this many of a processor */

static struct socket_name *sockets_add(struct sockets *sockets, uint64_t inode)
{
	if (make_room(&sockets->items, sockets->count, &sockets->room, sizeof(*sockets->items)))
		return NULL;
	sockets->items[sockets->count] = (struct socket_name){ .inode = inode };
	return &sockets->items[sockets->count++];
}

/* One word of eight digits. */
static bool take_word(struct text *text, unsigned char ret[4])
{
	struct text digits = { text->at, text->at + 8 };
	uint64_t value;

	if (text->end - text->at < 8 || !text_take_number(&digits, 16, &value) ||
	    digits.at != digits.end)
		return false;
	text->at += 8;
	memcpy(ret, &(uint32_t){ (uint32_t)value }, 4);
	return true;
}

/* "0100007F:0050", or four words before the colon; the port, or -1. */
static int sockets_describe(struct text field, char *ret, size_t room)
{
	unsigned char bytes[16];
	size_t size = 0, length = 0;
	uint64_t port;

	while (size < sizeof(bytes) && take_word(&field, bytes + size))
		size += 4;
	if (!text_take_char(&field, ':') || !text_take_number(&field, 16, &port))
		return -1;
	if (size == 4) {
		snprintf(ret, room, "%u.%u.%u.%u:%u", bytes[0], bytes[1], bytes[2], bytes[3],
			 (unsigned)port);
		return (int)port;
	}
	for (size_t i = 0; i < size && length < room; i += 2)
		length += (size_t)snprintf(ret + length, room - length, "%c%x", i ? ':' : '[',
					   bytes[i] << 8 | bytes[i + 1]);
	if (length < room)
		snprintf(ret + length, room - length, "]:%u", (unsigned)port);
	return (int)port;
}

/* sl local remote st queues timer retransmissions uid timeout inode */
static void take_inet(struct sockets *sockets, struct text line)
{
	struct text fields[10];
	char local[64], remote[64];
	struct socket_name *name;
	uint64_t inode;
	int port;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!text_take_word(&line, &fields[i]))
			return;
	/* Connections that have ended stay listed for a minute, with inode 0. */
	if (!text_take_number(&fields[9], 10, &inode) || !inode ||
	    sockets_describe(fields[1], local, sizeof(local)) < 0)
		return;
	port = sockets_describe(fields[2], remote, sizeof(remote));
	name = port < 0 ? NULL : sockets_add(sockets, inode);
	if (name)
		snprintf(name->text, sizeof(name->text), "%s%s", port ? "" : "listens on ",
			 port ? remote : local);
}

/* num references protocol flags type st inode path */
static void take_unix(struct sockets *sockets, struct text line)
{
	struct text fields[8];
	struct socket_name *name;
	uint64_t inode;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!text_take_word(&line, &fields[i]))
			return;
	name = text_take_number(&fields[6], 10, &inode) ? sockets_add(sockets, inode) : NULL;
	if (name)
		snprintf(name->text, sizeof(name->text), "unix:%.*s",
			 (int)(fields[7].end - fields[7].at), fields[7].at);
}

static void read_list(pid_t pid, const char *path, struct sockets *sockets,
		      void (*take)(struct sockets *sockets, struct text line))
{
	CLEANUP(free) char *bytes = NULL;
	struct err err;
	struct text all, line;
	size_t size;

	if (proc_read(pid, path, &bytes, &size, &err))
		return;
	all = (struct text){ bytes, bytes + size };
	if (!text_take_line(&all, &line))
		return;
	while (text_take_line(&all, &line))
		take(sockets, line);
}

void sockets_read(pid_t pid, struct sockets *ret)
{
	*ret = (struct sockets){ 0 };
	read_list(pid, "net/tcp", ret, take_inet);
	read_list(pid, "net/tcp6", ret, take_inet);
	read_list(pid, "net/udp", ret, take_inet);
	read_list(pid, "net/udp6", ret, take_inet);
	read_list(pid, "net/unix", ret, take_unix);
}

const char *sockets_find(const struct sockets *sockets, uint64_t inode)
{
	for (size_t i = 0; i < sockets->count; i++)
		if (sockets->items[i].inode == inode)
			return sockets->items[i].text;
	return NULL;
}

void sockets_done(struct sockets *sockets)
{
	free(sockets->items);
}

static ino_t network_id(pid_t pid)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return stat(path, &status) ? 0 : status.st_ino;
}

const char *network_find(struct network *self, pid_t pid, uint64_t inode)
{
	ino_t id = network_id(pid);
	const char *name = id == self->id ? sockets_find(&self->sockets, inode) : NULL;
	uint64_t begin_ns;

	if (name)
		return name;
	if (now_ns() < self->read_ns + READ_SHARE * self->took_ns)
		return NULL;
	begin_ns = now_ns();
	network_done(self);
	sockets_read(pid, &self->sockets);
	self->id = id;
	self->read_ns = now_ns();
	self->took_ns = self->read_ns - begin_ns;
	return sockets_find(&self->sockets, inode);
}

void network_done(struct network *network)
{
	sockets_done(&network->sockets);
	*network = (struct network){ 0 };
}
