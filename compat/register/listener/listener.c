/*
 * Listens on an abstract socket for hosts; lets in a host that the kernel lets in, and hands it
 * over to limpet's agent: the one in this process, or the one beside this library, which is loaded
 * then. Runs inside the target on the helper thread; the program may close any descriptor at any
 * time, so each is checked before its use.
 */
#include "compat/register/listener/listener.h"

#include "compat/register/listener/guard.h"
#include "compat/register/listener/peer.h"
#include "compat/register/process/libc_functions.h"
#include "compat/register/process/loader.h"
#include "compat/register/sdk.h"
#include "shared/wire/listener.h"
#include "target/runtime/descriptor.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG      4
#define REOPEN_AFTER 1         /* seconds, if the program closes the socket again and again */
#define RETRY_NS     100000000 /* without a free descriptor for a peer */

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

/* Serves the peer that has connected: offer, hello, welcome, and then the agent's control loop
 * until the host detaches or dies.  With a refusal, sends it to the peer instead.  Loads nothing
 * before the kernel has let the host take the offered descriptor.  True: this thread must end,
 * since the program is about to change its rights. */
static bool connection_serve(int bell, enum listener_refusal refusal,
			     struct identity_watch *identity)
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

/* Written by the helper thread, read in children of fork. */
static struct descriptor listening = { -1, 0, 0 }, peer = { -1, 0, 0 };

/* One of a few names: the first may belong to a process of the same number, elsewhere or dead. */
static bool bind_name(int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	for (unsigned i = 0; i < LISTENER_NAMES; i++) {
		int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
				      LISTENER_NAME, (int)getpid(), i);
		socklen_t size =
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);

		if (!bind(fd, (struct sockaddr *)&address, size))
			return true;
	}
	return false;
}

/* A process with more rights than its user opens no listener: that user must not get them.  Noted
 * as limpet's before it listens: a fork may happen at any time. */
void listener_prepare(void)
{
	struct fork_work work;

	if (getauxval(AT_SECURE))
		return;
	work = forks_begin();
	listening =
		descriptor_own(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	forks_release(work);
	if (listening.fd >= 0 && (!bind_name(listening.fd) || listen(listening.fd, BACKLOG)))
		descriptor_close(&listening);
}

/* Slowly: a program may close all descriptors once, but one that repeats it must not cost much. */
static void open_listener_again(void)
{
	static time_t last;
	struct timespec now = { 0 }, pause = { REOPEN_AFTER, 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (last && now.tv_sec - last <= REOPEN_AFTER)
		nanosleep(&pause, NULL);
	last = now.tv_sec;
	listener_prepare();
}

static bool listener_serve(struct identity_watch *identity)
{
	bool exceeds = identity_exceeds(identity);
	bool must_end = connection_serve(
		peer.fd, exceeds ? LISTENER_OTHER_RIGHTS : LISTENER_OFFERED, identity);

	/* A child of fork may hold a copy: only this ends the connection for certain. */
	if (descriptor_is_ours(&peer))
		shutdown(peer.fd, SHUT_RDWR);
	descriptor_close(&peer);
	return !exceeds && !must_end;
}

/* Polls also without a listener, as a place for hosts that stop the thread by ptrace: the call then
 * is restarted or ends with EINTR. */
bool listener_serve_next(struct identity_watch *identity)
{
	struct pollfd wait = { .events = POLLIN };
	struct timespec limit = { 0, IDENTITY_GLANCE_MS * 1000000L };
	struct fork_work work;

	if (!descriptor_is_ours(&listening))
		open_listener_again();
	wait.fd = listening.fd;
	if (ppoll(&wait, 1, &limit, NULL) <= 0 || guard_is_alarmed() ||
	    !descriptor_is_ours(&listening))
		return !guard_says_end(identity);
	/* Never blocks, though the peer may have gone: forks wait meanwhile. */
	work = forks_begin();
	peer = descriptor_own(accept4(listening.fd, NULL, NULL, SOCK_CLOEXEC));
	forks_release(work);
	if (peer.fd >= 0)
		return listener_serve(identity);
	nanosleep(&(struct timespec){ 0, RETRY_NS }, NULL);
	return true;
}

/* If the program has closed the descriptor, the waiting thread returns after its time limit. */
void listener_wake(void)
{
	if (descriptor_is_ours(&listening))
		shutdown(listening.fd, SHUT_RD);
}

void listener_forget(void)
{
	descriptor_close(&listening);
	descriptor_close(&peer);
	descriptor_close(&offered);
	descriptor_close(&kept);
}
