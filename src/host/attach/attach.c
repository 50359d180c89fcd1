/*
 * The order of an attach: read the target, lock it, plan, have the injector stop one thread once,
 * connect to limpet's thread that then runs in the target, send it the agent.  A process with a
 * listener is entered through that instead.  Only the injector uses ptrace.
 */
#include "host/attach/attach.h"

#include "host/attach/blobs.h"
#include "host/attach/boot_wait.h"
#include "host/attach/exclusion.h"
#include "host/attach/facts/libc_wait.h"
#include "host/attach/inject.h"
#include "host/attach/launch/start_wait.h"
#include "host/attach/library.h"
#include "host/attach/listener.h"
#include "host/attach/single.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/interrupt.h"
#include "host/process/cgroup.h"
#include "host/process/memory.h"
#include "host/process/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LEAVE_LIMIT_NS 20000000000ull
#define CLOSE_LIMIT_NS 1000000000ull
#define GLANCE_NS      50000
#define CONT_LIMIT_NS  5000000000ull
#define ATTACH_BYTES   (2ull << 20) /* measured: 1.1 MiB, with the tracer 2.7 */
#define TRACER_BYTES   (4ull << 20)

static void wait_a_little(uint64_t delay_ns)
{
	struct timespec delay = { (time_t)(delay_ns / 1000000000u),
				  (long)(delay_ns % 1000000000u) };

	nanosleep(&delay, NULL);
}

static int pack_agent(const struct target *target, struct library *ret, struct err *err)
{
	return library_pack(target, AGENT_MEMFD_NAME, blob_agent,
			    (size_t)(blob_agent_end - blob_agent), ret, err);
}

/* Sends no library where the agent is already mapped. */
static int send_agent(struct attachment *self, struct library *library, struct err *err)
{
	struct boot_hello hello = { .magic = BOOT_MAGIC };
	int r = 0;

	if (self->report.was_resident)
		library_close(library);
	else if (library->fd < 0)
		r = pack_agent(&self->target, library, err);
	if (r)
		return r;
	hello.has_library = library->fd >= 0;
	hello.is_directory = library->is_directory;
	return link_send(&self->link, &self->target, &hello, sizeof(hello), library->fd, err);
}

static int say_hello(struct attachment *self, struct err *err)
{
	struct control_hello hello = { .holder_pid = getpid() };
	struct control_reply reply;
	struct process_stat stat;

	if (stat_read(getpid(), getpid(), &stat, err) || link_lock(&self->link, err))
		return err->code;
	control_header_init(&hello.header, CONTROL_HELLO, sizeof(hello));
	hello.holder_start = stat.start_tick;
	snprintf(hello.holder_name, sizeof(hello.holder_name), "%s", stat.name);
	return link_ask(&self->link, &self->target, &hello.header, self->link.lock, &reply, err);
}

/* The agent ended before it answered: the boot context holds the reason. */
static int explain_silence(const struct attachment *self, struct err *err)
{
	struct boot_context boot;

	if (!target_lives(&self->target))
		return target_fail_ended(err);
	if (!boot_context_read(self, &boot) && boot.step == BOOT_FAILED)
		return boot_fail(&boot, err);
	return err->code;
}

/* glibc's setuid changes all threads it knows.  If the program calls it while the starter creates
 * the control thread, the control thread is missed. */
static int check_credentials(const struct attachment *self, struct err *err)
{
	pid_t pid = self->target.process.pid;
	struct process_status ours, theirs;

	if (status_read(pid, self->report.control_tid, &ours, err) ||
	    status_read(pid, self->target.process.memory_tid, &theirs, err))
		return err->code;
	if (ours.euid == theirs.euid && ours.egid == theirs.egid &&
	    ours.capabilities == theirs.capabilities)
		return 0;
	err_set(err, -EAGAIN, "it changed its user while limpet was attaching");
	return err_fix(err, "try again");
}

static int attach_meet(struct attachment *self, struct library *library, struct err *err)
{
	struct boot_context boot = { 0 };
	int r = boot_await_socket(self, &boot, err);

	if (!r)
		r = boot_take_socket(self, &boot, err);
	if (!r)
		r = send_agent(self, library, err);
	if (!r)
		r = say_hello(self, err);
	if (r)
		return explain_silence(self, err);
	self->report.control_tid = target_find_thread(&self->target, boot.worker_tid);
	return check_credentials(self, err);
}

static int read_maps_again(struct target *target, struct err *err)
{
	target_look_again(target);
	maps_done(&target->process.maps);
	return maps_read(target->process.memory_tid, &target->process.maps, err);
}

/* A newly loaded agent's page lies in mappings that must be read again. */
static int find_page(struct attachment *self, struct err *err)
{
	int r = read_maps_again(&self->target, err);

	if (!r && resident_find_at(&self->target, self->context, &self->resident))
		return err_set(err, -ENOENT, "the agent's page cannot be found");
	return r;
}

/* Refuses a library that cannot be handed over before the target is touched. */
static int prepare_agent(struct attachment *self, struct library *ret, struct err *err)
{
	bool is_there = !resident_find(&self->target, &self->resident);

	return is_there ? 0 : pack_agent(&self->target, ret, err);
}

static int attach_locked(struct attachment *self, const struct attach_options *options,
			 struct err *err)
{
	CLEANUP(close) int lock = exclusion_take(&self->target, err);
	struct library library = LIBRARY_NONE;
	int r = lock < 0 ? lock : libc_wait(&self->target, attach_patience_ns(options), err);

	/* Another limpet may have left its agent while this one waited for the lock. */
	if (!r)
		r = read_maps_again(&self->target, err);
	if (!r)
		r = prepare_agent(self, &library, err);
	if (!r)
		r = inject(self, options, lock, err);
	if (!r)
		r = attach_meet(self, &library, err);
	library_close(&library);
	return r ? r : find_page(self, err);
}

/* Without the right to read the target's memory there is no page to find; nothing here depends on
 * it. */
static void find_page_if_allowed(struct attachment *self)
{
	struct target *target = &self->target;
	struct err ignored;

	if (target->memory >= 0 && find_page(self, &ignored)) {
		close(target->memory);
		target->memory = -1;
	}
}

static int meet_listener(struct attachment *self, struct err *err)
{
	int r = say_hello(self, err);

	if (r == -EPIPE) {
		err_set(err, -EBUSY, "another limpet holds it");
		err_fix(err, "limpet detach %d", self->target.process.pid);
		return err_exit(err, EXIT_BUSY);
	}
	if (r)
		return r;
	self->report.control_tid = target_find_thread(&self->target, self->report.control_tid);
	find_page_if_allowed(self);
	return 0;
}

static int enter_locked(struct attachment *self, const struct attach_options *options,
			struct err *err)
{
	/* Without the right to read the target's memory limpet cannot lock it either; the listener
	 * then refuses, and the attach by ptrace reports why. */
	bool locks = self->target.memory >= 0;
	CLEANUP(close) int lock = locks ? exclusion_take(&self->target, err) : -1;
	int r = locks && lock < 0 ? lock : listener_connect(self, options);

	return r ? r : meet_listener(self, err);
}

/* -ENOENT: there is no listener. */
static int attach_by_listener(struct attachment *self, pid_t pid,
			      const struct attach_options *options, struct err *err)
{
	char name[96];
	int r;

	if (!listener_exists(pid) || target_meet(&self->target, pid, err))
		return -ENOENT;
	r = enter_locked(self, options, err);
	if (r && r != -ENOENT) {
		target_prefer_end(self->target.pidfd, self->target.process.pid, err);
		err_while(err, "cannot attach to %s",
			  target_name(&self->target, name, sizeof(name)));
	}
	if (r)
		attach_close(self);
	return r;
}

/* A process stopped by job control cannot run limpet's thread: sends SIGCONT if the user wants
 * that, else waits a while. */
static int await_running(pid_t pid, int pidfd, const struct attach_options *options,
			 struct err *err)
{
	uint64_t deadline_ns = now_ns() + CONT_LIMIT_NS;
	struct process_status status;
	int r = status_read(pid, pid, &status, err);

	if (!r && status.state == 'T' && options->resumes &&
	    syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, NULL, 0))
		return err_set(err, -errno, "send SIGCONT to %d: %s", pid, strerror(errno));
	while (!r && status.state == 'T' && now_ns() < deadline_ns && !interrupt_is_waiting()) {
		wait_a_little(1000000);
		r = status_read(pid, pid, &status, err);
	}
	return r;
}

/* Can the process run, and has its memory cgroup room?  The agent's pages that are loaded and
 * written count there; of rings only the first pages, unless limpet is in the same cgroup. */
static int check_group(pid_t pid, const struct attach_options *options, struct err *err)
{
	struct process_status status;
	int r = status_read(pid, pid, &status, err);

	if (r)
		return r;
	return cgroup_check(pid, ATTACH_BYTES + (options->traces ? TRACER_BYTES : 0),
			    MIN(status.threads, options->ring_count) * options->ring_bytes, err);
}

static int attach_named(struct attachment *self, const struct attach_options *options, int pidfd,
			struct err *err)
{
	char name[96];
	int r = attach_locked(self, options, err);

	if (r) {
		target_prefer_end(pidfd, self->target.process.pid, err);
		err_while(err, "cannot attach to %s",
			  target_name(&self->target, name, sizeof(name)));
		link_close(&self->link); /* the agent then detaches */
		single_give_back(self);
		attach_close(self);
	}
	return r;
}

static int attach_by_stop(struct attachment *self, pid_t pid, const struct attach_options *options,
			  int pidfd, struct err *err)
{
	int r = target_open(&self->target, pid, err);

	/* The number may have been reused meanwhile. */
	if (!r && !pidfd_lives(pidfd)) {
		target_close(&self->target);
		r = target_fail_ended(err);
	}
	if (r)
		target_prefer_end(pidfd, pid, err);
	return r ? err->code : attach_named(self, options, pidfd, err);
}

static int attach_once(struct attachment *ret, pid_t pid, const struct attach_options *options,
		       int pidfd, struct err *err)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->link.socket = ret->link.lock = ret->target.pidfd = ret->target.thread_fd =
		ret->target.memory = -1;
	r = attach_by_listener(ret, pid, options, err);
	return r == -ENOENT ? attach_by_stop(ret, pid, options, pidfd, err) : r;
}

int attach_open(struct attachment *ret, pid_t pid, const struct attach_options *options,
		struct err *err)
{
	CLEANUP(close) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	uint64_t begin_ns = now_ns();
	struct start_wait wait;
	int r = await_running(pid, pidfd, options, err);

	if (!r)
		r = check_group(pid, options, err);
	if (r) {
		target_prefer_end(pidfd, pid, err);
		return err->code;
	}
	start_wait_begin(&wait, options->tries_for_ns ? 0 : ATTACH_PATIENCE_NS);
	do
		r = attach_once(ret, pid, options, pidfd, err);
	while (r && start_wait_more(&wait, &ret->target.process, pidfd, err));
	if (!r)
		memset(err, 0, sizeof(*err)); /* the first failure no longer matters */
	ret->report.attach_ns = now_ns() - begin_ns;
	return r;
}

static bool thread_is_there(const struct attachment *self)
{
	char path[64];

	if (!self->report.control_tid)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d", self->target.process.pid,
		 self->report.control_tid);
	return access(path, F_OK) == 0;
}

/* With unload the control thread unmaps the region last, after itself. */
static bool has_left(const struct attachment *self, bool is_unloading)
{
	struct boot_context boot;

	return !thread_is_there(self) && (!is_unloading || boot_context_read(self, &boot));
}

static int await_end(const struct attachment *self, bool is_unloading, struct err *err)
{
	uint64_t deadline_ns = now_ns() + LEAVE_LIMIT_NS;

	while (target_lives(&self->target) && !has_left(self, is_unloading)) {
		if (now_ns() > deadline_ns)
			return err_set(err, -ETIMEDOUT,
				       "limpet's thread in the target does not end");
		wait_a_little(GLANCE_NS);
	}
	return 0;
}

int attach_leave(struct attachment *self, bool unload, struct control_reply *ret, struct err *err)
{
	bool has_listener = self->report.way == BOOT_WAY_LISTENER;
	struct control_detach order;
	int r;

	control_header_init(&order.header, CONTROL_DETACH, sizeof(order));
	order.header.flags = unload ? CONTROL_UNLOAD : 0;
	r = link_ask(&self->link, &self->target, &order.header, -1, ret, err);
	/* A listener's thread stays; it closes the connection when the agent is at rest. */
	if (!r && has_listener)
		r = link_await_end(&self->link, &self->target, err);
	link_close(&self->link);
	return r || has_listener ? r : await_end(self, unload && !ret->text[0], err);
}

/* Waits for the control thread to end: the agent detached by itself, or does so because its
 * connection is closed. */
static void await_thread_end(const struct attachment *self)
{
	uint64_t deadline_ns = now_ns() + CLOSE_LIMIT_NS;

	while (target_lives(&self->target) && thread_is_there(self) && now_ns() < deadline_ns)
		wait_a_little(GLANCE_NS);
}

void attach_close(struct attachment *attachment)
{
	link_close(&attachment->link);
	if (attachment->single.is_due) {
		await_thread_end(attachment);
		single_give_back(attachment);
	}
	target_close(&attachment->target);
}
