/*
 * Lets in a host that the kernel lets in, and hands it over to limpet's agent: the one in this
 * process, or the one beside this library, which is loaded now.  Runs inside the target on the
 * helper thread.
 */
#include "compat/register/listener/connection.h"

#include "compat/register/handover.h"
#include "compat/register/listener/glance.h"
#include "compat/register/listener/guard.h"
#include "compat/register/listener/offer.h"
#include "compat/register/listener/peer.h"
#include "compat/register/process/libc_functions.h"
#include "shared/wire/listener.h"
#include "target/runtime/identity.h"

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

/* limpet's host sends hello at once; a peer that does not is refused. */
static bool hears_hello(int socket, struct identity_watch *identity, struct listener_hello *ret)
{
	struct pollfd wait = { socket, POLLIN, 0 };

	if (glance_poll(&wait, 1, LISTENER_WAIT_MS, identity) <= 0)
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

static void describe_root(struct listener_welcome *welcome)
{
	struct stat root = { 0 }, mounts = { 0 };

	if (stat("/", &root) || stat("/proc/self/ns/mnt", &mounts))
		return;
	welcome->root_device = root.st_dev;
	welcome->root_inode = root.st_ino;
	welcome->mounts_inode = mounts.st_ino;
}

static void connection_refuse(struct listener_welcome *welcome, int code, const char *text)
{
	welcome->code = code;
	snprintf(welcome->text, sizeof(welcome->text), "%s", text);
}

static void describe_agent(const struct sdk *sdk, struct listener_welcome *welcome)
{
	const uint32_t *version = sdk_function(sdk, AGENT_VERSION_SYMBOL);

	welcome->was_loaded = sdk->is_borrowed;
	welcome->agent_version = version ? *version : 0;
	welcome->context = (uint64_t)&context;
	welcome->tid = (int32_t)syscall(SYS_gettid);
}

/* The agent's entry, with its context made; NULL and the reason in the welcome. */
static agent_function *connection_prepare(const struct sdk *sdk, struct listener_welcome *welcome)
{
	agent_function *run = (agent_function *)sdk_function(sdk, BOOT_AGENT_ENTRY);

	describe_root(welcome);
	describe_agent(sdk, welcome);
	context = (struct boot_context){ .magic = BOOT_MAGIC, .way = BOOT_WAY_LISTENER };
	context.worker_tid = welcome->tid;
	context.may_call = identity_is_unfiltered();
	context.agent_handle = (uint64_t)sdk->handle;
	context.agent_entry = (uint64_t)run;
	if (!run || !libc_functions_find(&context.libc)) {
		connection_refuse(welcome, -ENOENT,
				  "a function of libc's or of the agent's is missing");
		return NULL;
	}
	return run;
}

/* True: it yields to a program that changes its rights. */
static bool be_agent(agent_function *run, int socket)
{
	bool must_end;

	guard_rest();
	must_end = run(&context, socket) == AGENT_YIELDS;
	if (!must_end)
		guard_go_on();
	return must_end;
}

static bool connection_receive(int socket, const struct sdk *sdk, struct listener_welcome *welcome)
{
	agent_function *run = connection_prepare(sdk, welcome);

	/* All: an agent that had them may have been unloaded, and ignores those that it has
	 * already. */
	if (run)
		handover_to(HANDOVER_ALL, sdk);
	return send(socket, welcome, sizeof(*welcome), MSG_NOSIGNAL) == sizeof(*welcome) && run &&
	       be_agent(run, socket);
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

static bool tell_offer(int bell, const struct listener_offer *offer)
{
	return send(bell, offer, sizeof(*offer), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*offer);
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
	if (!tell_offer(bell, &offer) || offer.refusal) {
		offer_end();
		return false;
	}
	socket = offer_await(bell, &hello, identity);
	must_end = socket >= 0 && welcome_host(socket);
	offer_end();
	return must_end;
}
