/*
 * The control loop. Waits for the host's orders, or its death; in both cases it detaches tools and
 * restores the environment at the end. Runs on the control thread; never exits, prints or aborts.
 */
#include "target/agent/agent.h"

#include "shared/arch/syscall.h"
#include "target/agent/alone.h"
#include "target/agent/departure.h"
#include "target/agent/notice.h"
#include "target/agent/register.h"
#include "target/agent/rings.h"
#include "target/amd/engine.h"
#include "target/amd/registry.h"
#include "target/amd/sinks/sdk/base/delivery.h"
#include "target/amd/sinks/sdk/counters/definitions.h"
#include "target/lifecycle/lifecycle.h"
#include "target/lifecycle/runner.h"
#include "target/lifecycle/tools.h"
#include "target/runtime/channel.h"
#include "target/runtime/forks.h"
#include "target/runtime/identity.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/page.h"
#include "target/runtime/starter.h"
#include "target/runtime/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* One residence, from HELLO to its end. */
struct residence {
	struct boot_context *boot;
	struct descriptor socket;
	struct descriptor host; /* a file that the host keeps locked while it lives */
	bool is_over, unloads;
	bool is_outlived; /* other application threads have outlived the process's first thread */
	union {
		struct control_header header;
		struct control_hello hello;
		struct control_load load;
		struct control_environ environ;
		struct control_step step;
		struct control_tables tables;
		struct control_found found;
		struct control_quiet quiet;
		struct control_rings rings;
		struct control_notice notice;
		struct control_counters counters;
		char bytes[CONTROL_MAX_BYTES];
	} message;
	struct descriptor fd; /* received with the message */
	struct control_reply reply;
};

/* Compares the rights of limpet's threads with the application's. */
static struct identity_watch identity;

/* The residence's descriptors, which a forked child closes. */
static struct descriptor held[2] = { { -1, 0, 0 }, { -1, 0, 0 } };

static void send_reply(struct residence *self, int code)
{
	uint32_t sequence = self->message.header.sequence;

	control_header_init(&self->reply.header, CONTROL_REPLY, sizeof(self->reply));
	self->reply.header.sequence = sequence;
	self->reply.code = code;
	if (descriptor_is_ours(&self->socket))
		channel_send(self->socket.fd, &self->reply, sizeof(self->reply));
}

static int on_hello(struct residence *self)
{
	const struct control_hello *hello = &self->message.hello;

	self->host = self->fd;
	self->fd = descriptor_own(-1);
	held[0] = self->host;
	held[1] = self->socket;
	agent_page.holder_pid = hello->holder_pid;
	agent_page.holder_start = hello->holder_start;
	text_add(agent_page.holder_name, sizeof(agent_page.holder_name), 0, hello->holder_name);
	page_set_state(AGENT_STATE_ATTACHED);
	definitions_begin();
	return 0;
}

static int on_load(struct residence *self)
{
	int r = lifecycle_enter();

	if (r)
		return r;
	r = tools_load(self->boot, &self->message.load, &self->fd, self->reply.text,
		       sizeof(self->reply.text));
	lifecycle_leave();
	self->reply.value = (uint32_t)r;
	return MIN(r, 0);
}

static int on_step(struct residence *self)
{
	const struct control_step *order = &self->message.step;

	int r = lifecycle_step(self->boot, order->tool, order->step, order->timeout_ms,
			       self->reply.text, sizeof(self->reply.text));

	self->reply.value = tools[order->tool].is_refused;
	return r;
}

static int on_tables(struct residence *self)
{
	const struct control_tables *order = &self->message.tables;

	return register_ask(&self->boot->libc, order, &self->reply.value);
}

static int on_found(struct residence *self)
{
	return register_found(&self->boot->libc, &self->message.found);
}

static int on_rings(struct residence *self)
{
	return rings_take(self->fd.fd, self->message.rings.size);
}

static int on_counters(struct residence *self)
{
	return counters_obey(&self->message.counters, self->fd.fd, &self->reply.value);
}

static int on_alike(struct residence *self)
{
	(void)self;
	departure_allow_calls();
	forks_allow_calls(true);
	return 0;
}

static int on_notice(struct residence *self)
{
	int r = notice_begin(&self->boot->libc, self->message.notice.timeout_ms);

	if (r)
		text_add(self->reply.text, sizeof(self->reply.text), 0,
			 r == -ETIMEDOUT || r == -EBUSY ? "the program's loader is busy"
							: "its hooks could not be made");
	return r;
}

/* Detaches tools and removes hooks; returns how many failed, which the reply's text names. */
static unsigned residence_quiet(struct residence *self, bool finalizes, uint32_t timeout_ms)
{
	char *text = self->reply.text;
	unsigned disobedient =
		lifecycle_quiet(self->boot, finalizes, timeout_ms, text, sizeof(self->reply.text));

	if (!notice_end(&self->boot->libc, timeout_ms))
		return disobedient;
	text_add_complaint(text, sizeof(self->reply.text), "the agent itself",
			   "the program's loader is busy, and limpet's hooks are still in");
	return disobedient + 1;
}

static int on_quiet(struct residence *self)
{
	const struct control_quiet *order = &self->message.quiet;
	bool finalizes = order->header.flags & CONTROL_FINALIZE;

	self->reply.value = residence_quiet(self, finalizes, order->timeout_ms);
	if (finalizes && !self->reply.value)
		sdk_release_counters();
	return 0;
}

static int on_environ(struct residence *self)
{
	return environment_publish(&self->message.environ);
}

/* The agent stays, resting, where unmapping it would leave dangling pointers. */
static void keep_agent_if_needed(struct residence *self)
{
	const char *reason = NULL;

	if (self->boot->starter_has_data)
		reason = "the agent itself: the program's allocator keeps per-thread data in it";
	if (self->boot->way == BOOT_WAY_CALL)
		reason = "the agent itself: musl never unmaps a library";
	if (self->boot->way == BOOT_WAY_LISTENER)
		reason = "the agent itself: the program's own register library has loaded it";
	if (self->reply.value || runner_collect(&self->boot->libc))
		reason = "the agent itself: a tool that could not go may call it";
	if (!reason)
		reason = notice_hindrance();
	if (!reason)
		reason = sdk_hindrance();
	if (!reason)
		return;
	self->unloads = false;
	text_add(self->reply.text, sizeof(self->reply.text), 0, reason);
}

static void close_tools(struct residence *self)
{
	const char *reason = NULL;

	/* A thread in exit() may be inside a tool, or inside this library. With musl that cannot be
	 * found out, and nothing is unmapped. */
	if (runner_collect(&self->boot->libc))
		reason = "the agent itself: a call that took too long has not returned yet";
	else if (self->boot->way != BOOT_WAY_CALL && !lifecycle_unwatch_exit())
		reason = "the agent itself: the program is ending";
	if (reason) {
		self->unloads = false;
		text_add(self->reply.text, sizeof(self->reply.text), 0, reason);
		return;
	}
	agent_page.is_unloading = 1;
	self->reply.value = tools_close(self->boot, LIFECYCLE_TIMEOUT_MS);
	agent_page.is_unloading = 0;
	keep_agent_if_needed(self);
	if (self->reply.value) {
		lifecycle_watch_exit();
	} else if (self->unloads) {
		sdk_close();
	}
}

static int on_detach(struct residence *self)
{
	self->is_over = true;
	self->unloads = self->message.header.flags & CONTROL_UNLOAD;
	agent_page.end_reason = AGENT_END_ASKED;
	page_set_state(AGENT_STATE_DETACHING);
	if (residence_quiet(self, false, LIFECYCLE_TIMEOUT_MS))
		self->unloads = false; /* the reply's text has the reason */
	environment_restore();
	if (self->unloads)
		close_tools(self);
	return 0;
}

static int (*const orders[])(struct residence *) = {
	[CONTROL_HELLO] = on_hello, [CONTROL_LOAD] = on_load,     [CONTROL_ENVIRON] = on_environ,
	[CONTROL_STEP] = on_step,   [CONTROL_TABLES] = on_tables, [CONTROL_FOUND] = on_found,
	[CONTROL_QUIET] = on_quiet, [CONTROL_DETACH] = on_detach, [CONTROL_RINGS] = on_rings,
	[CONTROL_ALIKE] = on_alike, [CONTROL_NOTICE] = on_notice, [CONTROL_COUNTERS] = on_counters,
};

static void end_because(struct residence *self, enum agent_end reason)
{
	agent_page.end_reason = reason;
	self->is_over = true;
}

static void residence_obey(struct residence *self, long size)
{
	unsigned kind = self->message.header.kind;

	memset(&self->reply, 0, sizeof(self->reply));
	if (control_check(&self->message, (size_t)size) || kind >= ARRAY_SIZE(orders) ||
	    !orders[kind]) {
		end_because(self, AGENT_END_PROTOCOL);
		return;
	}
	send_reply(self, orders[kind](self));
}

static unsigned own_threads(void)
{
	return rings_tracer_threads() + notice_threads() + sdk_own_threads() +
	       runner_is_apart(); /* then the starter stays */
}

/* Reads the first thread's state first: threads found after that have outlived it. Counts limpet's
 * threads twice, because one that ends in between must not be taken for an application thread. */
static bool is_deserted(struct residence *self)
{
	bool has_first_ended = first_status() >= 0;
	unsigned others = own_threads();

	if (is_alone(others) && own_threads() == others)
		return true;
	self->is_outlived |= has_first_ended;
	return false;
}

static bool must_leave(void)
{
	return departure_is_wanted() || identity_exceeds(&identity);
}

/* The kernel releases the lock when the host ends. The socket may stay open: a child forked by the
 * host or the target may have a copy of its other end. */
static bool host_has_died(const struct residence *self)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return descriptor_is_ours(&self->host) &&
	       raw3(SYS_fcntl, self->host.fd, F_GETLK, &lock) >= 0 && lock.l_type == F_UNLCK;
}

static void end_before_rights_change(struct residence *self)
{
	end_because(self, AGENT_END_IDENTITY);
	memset(&self->reply, 0, sizeof(self->reply));
	self->message.header.sequence = CONTROL_FAREWELL;
	send_reply(self, -ENOTCONN);
}

/* Checks for the process's end before it compares rights. */
static void check_program(struct residence *self, bool is_idle)
{
	bool exceeds = must_leave();

	if ((exceeds || is_idle) && is_deserted(self)) {
		end_because(self, AGENT_END_ALONE);
	} else if (exceeds) {
		end_before_rights_change(self);
	} else if (is_idle && host_has_died(self)) {
		end_because(self, AGENT_END_HOST_DIED);
	}
}

/* Reads only limpet's own socket: the target may have reused its number. */
static void receive_order(struct residence *self)
{
	long r = descriptor_is_ours(&self->socket)
			 ? channel_receive(self->socket.fd, &self->message, sizeof(self->message),
					   &self->fd)
			 : 0;

	if (r <= 0 && departure_is_wanted()) { /* the flag may be seen after its shutdown() */
		end_before_rights_change(self);
		return;
	}
	if (r <= 0) {
		end_because(self, AGENT_END_HOST_DIED);
		return;
	}
	residence_obey(self, r);
	descriptor_close(&self->fd);
}

static void serve_once(struct residence *self)
{
	struct pollfd wait = { self->socket.fd, POLLIN, 0 };
	struct timespec glance = { 0, IDENTITY_GLANCE_MS * 1000000L };
	long r = raw5(SYS_ppoll, &wait, 1, &glance, 0, 8);

	check_program(self, r == 0);
	if (r == 0 || r == -EINTR || self->is_over)
		return;
	if (r > 0 && wait.revents & POLLIN)
		receive_order(self);
	else
		end_because(self, AGENT_END_HOST_DIED);
}

static void residence_begin(struct residence *self)
{
	struct boot_context *boot = self->boot;

	agent_page.context = (uint64_t)boot;
	if (!page_is_own()) { /* a forked child, with what its parent's agent had */
		for (unsigned i = 0; i < ARRAY_SIZE(held); i++)
			descriptor_close(&held[i]);
		lifecycle_adopt();
		notice_adopt();
	}
	rings_begin(&boot->libc);
	departure_prepare(boot, self->socket.fd);
	forks_allow_calls(boot->may_call);
	delivery_learn(&boot->libc);
	agent_page.pid = (int32_t)raw0(SYS_getpid);
	agent_page.control_tid = (int32_t)raw0(SYS_gettid);
	agent_page.end_reason = AGENT_END_NONE;
	if (!agent_page.attaches++)
		agent_page.loaded_ns = kernel_clock_ns(CLOCK_BOOTTIME);
	identity_begin(&identity, boot->origin);
	runner_mind(must_leave);
	runner_employ(boot->is_apart ? boot : NULL);
}

static void residence_end(struct residence *self)
{
	runner_mind(NULL);
	if (!self->unloads)
		residence_quiet(self, false, LIFECYCLE_TIMEOUT_MS);
	environment_restore();
	rings_drop();
	descriptor_close(&self->host);
	held[0] = held[1] = descriptor_own(-1);
	runner_employ(NULL);
	starter_dismiss(self->boot);
	agent_page.holder_pid = 0;
	agent_page.control_tid = 0; /* a program's own copy stays, and is free again */
	if (self->unloads)
		return; /* the state stays "detaching": the region is about to be unmapped */
	page_set_state(AGENT_STATE_RESTING);
}

/* If all threads of a process end one by one, its status is that of the last, which is this one.
 * Passes on the first thread's status, unless other application threads outlived it: then libc's
 * threads exit with 0, as this one does. */
static void leave_last(const struct residence *self)
{
	int status = !self->is_outlived && is_alone(0) ? first_status() : -1;

	if (status > 0)
		raw1(SYS_exit, status);
}

int agent_reside(struct boot_context *boot, int socket)
{
	/* On the control thread's stack, which has 1 MiB. */
	struct residence self = { .boot = boot,
				  .socket = descriptor_see(socket),
				  .host = descriptor_own(-1),
				  .fd = descriptor_own(-1) };

	residence_begin(&self);
	while (!self.is_over)
		serve_once(&self);
	residence_end(&self);
	if (agent_page.end_reason == AGENT_END_ALONE)
		leave_last(&self);
	if (self.unloads)
		forks_part();
	if (agent_page.end_reason == AGENT_END_IDENTITY)
		return AGENT_YIELDS;
	return self.unloads ? AGENT_UNLOADS : AGENT_RESTS;
}
