/*
 * Lets in a host that the kernel lets in, and hands it over to limpet's agent: the one in this
 * process, or the one beside this library, which is loaded now.  Runs inside the target on the
 * helper thread.
 */
#include "compat/register/listener/connection.h"

#include "compat/register/handover.h"
#include "compat/register/listener/guard.h"
#include "compat/register/listener/peer.h"
#include "compat/register/process/libc_functions.h"
#include "compat/register/process/loader.h"
#include "target/runtime/descriptor.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int agent_function(struct boot_context *boot, int socket);

/* The agent keeps its address for as long as it lives.  Helper thread only. */
static struct boot_context context;

/* The socket pair of a connection: the thread keeps one end and offers the other to a host, which
 * takes it out of this process with pidfd_getfd().  Its possession proves by the kernel that the
 * host may trace this process.  Written by the helper thread, read in children of fork; the program
 * may close any descriptor at any time. */
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

static void offer_end(void)
{
	descriptor_close(&offered);
	/* A child of fork may hold a copy: only this ends the connection for certain. */
	if (descriptor_is_ours(&kept))
		shutdown(kept.fd, SHUT_RDWR);
	descriptor_close(&kept);
}

/* Makes the pair, and sends hello on it. */
static bool offer_make(const struct listener_hello *hello, struct listener_offer *ret)
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
static bool hello_matches(const struct listener_hello *hello)
{
	struct listener_hello heard;

	return descriptor_is_ours(&kept) &&
	       recv(kept.fd, &heard, sizeof(heard), MSG_DONTWAIT | MSG_TRUNC) == sizeof(heard) &&
	       !memcmp(&heard, hello, sizeof(heard));
}

/* Waits until a host has taken its end and sent hello on it; the kept end, or -1 when it did not in
 * time or has closed `bell`, or this thread must end. */
static int offer_await(int bell, const struct listener_hello *hello,
		       struct identity_watch *identity)
{
	struct pollfd wait[] = { { kept.fd, POLLIN, 0 }, { bell, POLLRDHUP, 0 } };
	int r = guard_poll(wait, ARRAY_SIZE(wait), LISTENER_WAIT_MS, identity);

	/* From now on the host has the only one: when it ends, the connection does. */
	descriptor_close(&offered);
	return r > 0 && wait[0].revents && hello_matches(hello) ? kept.fd : -1;
}

/* limpet's host sends hello at once; a peer that does not is refused. */
static bool hears_hello(int socket, struct identity_watch *identity, struct listener_hello *ret)
{
	struct pollfd wait = { socket, POLLIN, 0 };

	if (guard_poll(&wait, 1, LISTENER_WAIT_MS, identity) <= 0)
		return false;
	/* The whole length, though only so much is read. */
	return recv(socket, ret, sizeof(*ret), MSG_DONTWAIT | MSG_TRUNC) == sizeof(*ret) &&
	       ret->magic == LISTENER_MAGIC && ret->version == LISTENER_VERSION;
}

/* The peer may have waited and given up. */
static bool has_gone(int socket)
{
	struct pollfd wait = { socket, POLLRDHUP, 0 };

	return poll(&wait, 1, 0) > 0;
}

static void connection_refuse(struct listener_welcome *welcome, int code, const char *text)
{
	welcome->code = code;
	snprintf(welcome->text, sizeof(welcome->text), "%s", text);
}

/* The agent's entry, with its context made; NULL and the reason in the welcome. */
static agent_function *connection_prepare(const struct sdk *sdk, struct listener_welcome *welcome)
{
	agent_function *run = (agent_function *)sdk_function(sdk, BOOT_AGENT_ENTRY);
	const uint32_t *version = sdk_function(sdk, AGENT_VERSION_SYMBOL);
	struct stat root = { 0 }, mounts = { 0 };

	if (!stat("/", &root) && !stat("/proc/self/ns/mnt", &mounts)) {
		welcome->root_device = root.st_dev;
		welcome->root_inode = root.st_ino;
		welcome->mounts_inode = mounts.st_ino;
	}
	welcome->was_loaded = sdk->is_borrowed;
	welcome->agent_version = version ? *version : 0;
	welcome->context = (uint64_t)&context;
	welcome->tid = (int32_t)syscall(SYS_gettid);
	context = (struct boot_context){ .magic = BOOT_MAGIC, .way = BOOT_WAY_LISTENER };
	context.worker_tid = welcome->tid;
	context.may_call = identity_is_unfiltered();
	context.agent_handle = (uint64_t)sdk->handle;
	context.agent_entry = (uint64_t)run;
	if (run && libc_functions_find(&context.libc))
		return run;
	connection_refuse(welcome, -ENOENT, "a function of libc's or of the agent's is missing");
	return NULL;
}

/* True: the agent yields to a program that changes its rights. */
static bool connection_receive(int socket, const struct sdk *sdk, struct listener_welcome *welcome)
{
	agent_function *run = connection_prepare(sdk, welcome);
	bool must_end;

	/* All: an agent that had them may have been unloaded, and ignores those that it has
	 * already. */
	if (run)
		handover_to(HANDOVER_ALL, sdk);
	if (send(socket, welcome, sizeof(*welcome), MSG_NOSIGNAL) != sizeof(*welcome) || !run)
		return false;
	guard_rest();
	must_end = run(&context, socket) == AGENT_YIELDS;
	if (!must_end)
		guard_go_on();
	return must_end;
}

static bool welcome_host(int socket)
{
	struct listener_welcome welcome = { .magic = LISTENER_MAGIC, .version = LISTENER_VERSION };
	struct sdk sdk;
	bool must_end;

	if (sdk_open_ours(&sdk, /* may_load */ true)) {
		must_end = connection_receive(socket, &sdk, &welcome);
		sdk_close(&sdk);
		return must_end;
	}
	connection_refuse(&welcome, -ENOENT,
			  AGENT_SONAME " is neither loaded nor beside the register library");
	send(socket, &welcome, sizeof(welcome), MSG_NOSIGNAL);
	return false;
}

/* Loads nothing before the kernel has let the host take the offered descriptor. */
bool connection_serve(int bell, enum listener_refusal refusal, struct identity_watch *identity)
{
	struct listener_offer offer = { .magic = LISTENER_MAGIC,
					.version = LISTENER_VERSION,
					.fd = -1 };
	struct listener_hello hello;
	bool must_end;
	int socket;

	/* Before anything is heard: a stranger is not worth the wait. */
	offer.refusal = refusal ? refusal : peer_judge(bell);
	if (offer.refusal == LISTENER_OFFERED &&
	    (!hears_hello(bell, identity, &hello) || has_gone(bell)))
		return false;
	if (offer.refusal == LISTENER_OFFERED && !offer_make(&hello, &offer))
		offer.refusal = LISTENER_NO_RESOURCES;
	if (send(bell, &offer, sizeof(offer), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(offer) ||
	    offer.refusal) {
		offer_end();
		return false;
	}
	socket = offer_await(bell, &hello, identity);
	must_end = socket >= 0 && welcome_host(socket);
	offer_end();
	return must_end;
}

void connection_forget(void)
{
	descriptor_close(&offered);
	descriptor_close(&kept);
}
