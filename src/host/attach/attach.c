/*
 * The order of an attach: read the target, lock it, plan, have the injector stop one thread once,
 * connect to limpet's thread that then runs in the target, send it the agent.  A process with a
 * listener is entered through that instead.  Only the injector uses ptrace.
 */
#include "host/attach/attachment.h"

#include "host/attach/children/blobs.h"
#include "host/attach/facts/facts.h"
#include "host/attach/library.h"
#include "host/attach/listener.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/interrupt.h"
#include "host/process/cgroup.h"
#include "host/process/threads.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAVE_LIMIT_NS 20000000000ull
#define CLOSE_LIMIT_NS 1000000000ull
#define GLANCE_NS      50000
#define CONT_LIMIT_NS  5000000000ull
#define ATTACH_BYTES   (2ull << 20) /* measured: 1.1 MiB, with the tracer 2.7 */
#define TRACER_BYTES   (4ull << 20)
#define RETRY_FIRST_NS 1000000
#define RETRY_MAX_NS   16000000

int attach_order(struct attachment *self, struct control_header *order, int fd,
		 struct control_reply *ret, struct err *err)
{
	struct control_reply reply;

	return link_request(&self->link, &self->target, order, fd, ret ? ret : &reply, err);
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

static int send_hello(struct attachment *self, struct err *err)
{
	struct control_hello hello = { .header = order_header(CONTROL_HELLO, sizeof(hello), 0),
				       .holder_pid = getpid() };
	struct process_stat stat;

	if (stat_read(getpid(), getpid(), &stat, err) || link_lock(&self->link, err))
		return err->code;
	hello.holder_start = stat.start_tick;
	snprintf(hello.holder_name, sizeof(hello.holder_name), "%s", stat.name);
	return attach_order(self, &hello.header, self->link.lock, NULL, err);
}

/* The agent ended before it answered: the boot context holds the reason. */
static int explain_silence(const struct attachment *self, struct err *err)
{
	struct boot_context boot;

	if (!target_lives(&self->target))
		return target_fail_ended(err);
	return !boot_context_read(self, &boot) && boot.step == BOOT_FAILED ? boot_fail(&boot, err)
									   : err->code;
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
		r = send_hello(self, err);
	if (r)
		return explain_silence(self, err);
	self->report.control_tid = target_find_thread(&self->target, boot.worker_tid);
	return check_credentials(self, err);
}

static int read_maps_again(struct target *target, struct err *err)
{
	target_choose_thread(target);
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

static int attach_locked(struct attachment *self, const struct attach_options *options,
			 struct err *err)
{
	CLEANUP(close) int lock = exclusion_acquire(&self->target, err);
	struct library library = LIBRARY_NONE;
	int r = lock < 0 ? lock : libc_wait(&self->target, attach_patience_ns(options), err);

	/* Another limpet may have left its agent while this one waited for the lock. */
	if (!r)
		r = read_maps_again(&self->target, err);
	/* Before the target is touched: refuses a library that cannot be handed over. */
	if (!r && resident_find(&self->target, &self->resident))
		r = pack_agent(&self->target, &library, err);
	if (!r)
		r = inject(self, options, lock, err);
	if (!r)
		r = attach_meet(self, &library, err);
	library_close(&library);
	return r ? r : find_page(self, err);
}

static int greet_listener(struct attachment *self, struct err *err)
{
	struct target *target = &self->target;
	struct err ignored;
	int r = send_hello(self, err);

	if (r == -EPIPE) {
		err_set(err, -EBUSY, "another limpet holds it");
		err_fix(err, "limpet detach %d", target->process.pid);
		return err_exit(err, EXIT_BUSY);
	}
	if (r)
		return r;
	self->report.control_tid = target_find_thread(target, self->report.control_tid);
	/* Without the right to read the target's memory there is no page to find; nothing here
	 * depends on it. */
	if (target->memory >= 0 && find_page(self, &ignored))
		close(TAKE_FD(target->memory));
	return 0;
}

static void fail_attach(const struct target *target, int pidfd, struct err *err)
{
	target_prefer_end(pidfd, target->process.pid, err);
	err_while(err, "cannot attach to %d (%s)", target->process.pid,
		  target->process.status.name);
}

/* -ENOENT: there is no listener. */
static int attach_by_listener(struct attachment *self, pid_t pid,
			      const struct attach_options *options, struct err *err)
{
	CLEANUP(close) int lock = -1;
	int r = 0;

	if (!listener_exists(pid) || target_identify(&self->target, pid, err))
		return -ENOENT;
	/* Without the right to read the target's memory limpet cannot lock it either; the listener
	 * then refuses, and the attach by ptrace reports why. */
	if (self->target.memory >= 0) {
		lock = exclusion_acquire(&self->target, err);
		r = MIN(lock, 0);
	}
	if (!r)
		r = listener_connect(self, options);
	if (!r)
		r = greet_listener(self, err);
	if (r && r != -ENOENT)
		fail_attach(&self->target, self->target.pidfd, err);
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
		sleep_ns(1000000);
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

static int attach_by_stop(struct attachment *self, pid_t pid, const struct attach_options *options,
			  int pidfd, struct err *err)
{
	int r = target_open(&self->target, pid, err);

	/* The number may have been reused meanwhile. */
	if (!r && !pidfd_lives(pidfd)) {
		target_close(&self->target);
		r = target_fail_ended(err);
	}
	if (r) {
		target_prefer_end(pidfd, pid, err);
		return err->code;
	}
	r = attach_locked(self, options, err);
	if (r) {
		fail_attach(&self->target, pidfd, err);
		link_close(&self->link); /* the agent then detaches */
		single_restore(self);
		attach_close(self);
	}
	return r;
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

/* A program that has only just been started: until its loader and its C library are done, or its
 * exec is, a refusal is not final.  Such failures have a code (-ESRCH of a process that lives: its
 * first thread ended between two reads, and the program goes on without it), or the process runs
 * another program than the one that was read. */
static bool may_pass(const struct process *process, int code)
{
	struct identity now;

	return code == -EAGAIN || code == -ESTALE || code == -ESRCH ||
	       (!identity_read(process->pid, process->memory_tid, &now, NULL) &&
		identity_compare(&process->identity, &now) == IDENTITY_EXEC);
}

/* Sleeps; true when the process has ended meanwhile. */
static bool ends_within(int pidfd, long time_ns)
{
	struct pollfd wait = { pidfd, POLLIN, 0 };

	return ppoll(&wait, 1, &(struct timespec){ 0, time_ns }, NULL) > 0;
}

int attach_open(struct attachment *ret, pid_t pid, const struct attach_options *options,
		struct err *err)
{
	CLEANUP(close) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	uint64_t begin_ns = now_ns(), patience_ns = options->tries_for_ns ? 0 : ATTACH_PATIENCE_NS;
	long pause_ns = RETRY_FIRST_NS;
	int r = await_running(pid, pidfd, options, err);

	if (!r)
		r = check_group(pid, options, err);
	if (r) {
		target_prefer_end(pidfd, pid, err);
		return err->code;
	}
	patience_ns += now_ns();
	while ((r = attach_once(ret, pid, options, pidfd, err)) && pidfd >= 0 &&
	       may_pass(&ret->target.process, err->code) && now_ns() <= patience_ns &&
	       !interrupt_is_waiting() && !ends_within(pidfd, pause_ns))
		pause_ns = MIN(2 * pause_ns, RETRY_MAX_NS);
	if (!r)
		memset(err, 0, sizeof(*err)); /* the first failure no longer matters */
	ret->report.attach_ns = now_ns() - begin_ns;
	return r;
}

/* With unload the control thread unmaps the region last, after itself.  False: not in time. */
static bool await_thread_end(const struct attachment *self, bool is_unloading, uint64_t limit_ns)
{
	pid_t pid = self->target.process.pid;
	uint64_t deadline_ns = now_ns() + limit_ns;
	struct boot_context boot;

	while (target_lives(&self->target) && (thread_is_there(pid, self->report.control_tid) ||
					       (is_unloading && !boot_context_read(self, &boot)))) {
		if (now_ns() > deadline_ns)
			return false;
		sleep_ns(GLANCE_NS);
	}
	return true;
}

int attach_detach(struct attachment *self, bool unload, struct control_reply *ret, struct err *err)
{
	bool has_listener = self->report.way == BOOT_WAY_LISTENER;
	struct control_detach order = { order_header(CONTROL_DETACH, sizeof(order),
						     unload ? CONTROL_UNLOAD : 0) };
	int r = attach_order(self, &order.header, -1, ret, err);

	/* A listener's thread stays; it closes the connection when the agent is at rest. */
	if (!r && has_listener)
		r = link_await_end(&self->link, &self->target, err);
	link_close(&self->link);
	if (r || has_listener || await_thread_end(self, unload && !ret->text[0], LEAVE_LIMIT_NS))
		return r;
	return err_set(err, -ETIMEDOUT, "limpet's thread in the target does not end");
}

void attach_close(struct attachment *attachment)
{
	link_close(&attachment->link);
	if (attachment->single.is_due) {
		/* The agent detached by itself, or does so because its connection is closed. */
		await_thread_end(attachment, false, CLOSE_LIMIT_NS);
		single_restore(attachment);
	}
	target_close(&attachment->target);
}
