/*
 * Runs inside the target on the helper thread; the program may close any descriptor at any time.
 */
#include "compat/register/listener/offer.h"

#include "compat/register/listener/glance.h"
#include "compat/register/process/forks.h"
#include "target/runtime/descriptor.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Written by the helper thread, read in children of fork. */
static struct descriptor kept = { -1, 0, 0 }, offered = { -1, 0, 0 };

static void offer_open(void)
{
	int ends[2] = { -1, -1 };
	struct fork_work work = forks_begin();

	if (!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		kept = descriptor_own(ends[0]);
		offered = descriptor_own(ends[1]);
	}
	forks_release(work);
}

bool offer_make(const struct listener_hello *hello, struct listener_offer *ret)
{
	offer_open();
	if (!descriptor_is_ours(&kept) ||
	    send(kept.fd, hello, sizeof(*hello), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(*hello)) {
		offer_end();
		return false;
	}
	ret->fd = offered.fd;
	ret->inode = offered.inode;
	return true;
}

/* The whole length, though only so much is read. */
static bool hello_hears(const struct listener_hello *hello)
{
	struct listener_hello heard;

	return descriptor_is_ours(&kept) &&
	       recv(kept.fd, &heard, sizeof(heard), MSG_DONTWAIT | MSG_TRUNC) == sizeof(heard) &&
	       !memcmp(&heard, hello, sizeof(heard));
}

int offer_await(int bell, const struct listener_hello *hello, struct identity_watch *identity)
{
	struct pollfd wait[] = { { kept.fd, POLLIN, 0 }, { bell, POLLRDHUP, 0 } };
	int r = glance_poll(wait, ARRAY_SIZE(wait), LISTENER_WAIT_MS, identity);

	/* From now on the host has the only one: when it ends, the connection does. */
	descriptor_close(&offered);
	return r > 0 && wait[0].revents && hello_hears(hello) ? kept.fd : -1;
}

void offer_end(void)
{
	descriptor_close(&offered);
	/* A child of fork may hold a copy: only this ends the connection for certain. */
	if (descriptor_is_ours(&kept))
		shutdown(kept.fd, SHUT_RDWR);
	descriptor_close(&kept);
}

void offer_forget(void)
{
	descriptor_close(&offered);
	descriptor_close(&kept);
}
