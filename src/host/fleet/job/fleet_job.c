/*
 * The main loop of a fleet.  It never waits for a node without a limit: a hanging node loses only
 * its own messages.
 */
#include "host/fleet/job/fleet_job.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/descriptors.h"
#include "host/core/self/interrupt.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_MS     100
#define LATECOME_NS 2000000000ull /* if the number of nodes is not known */
#define SAID_MAX    4096u
#define REMOVE_NS   10000000000ull
#define LEAVE_NS    3000000000ull /* for node parts to end after their stdin was closed */

struct fleet_job {
	const struct fleet_job_options *options;
	struct fleet *fleet;
	struct node_start *starts;
	size_t start_count;
	int image; /* limpet's own executable */
	uint64_t image_size;
	char own_path[PATH_MAX];
	struct pollfd *fds;
	uint64_t until_ns, heard_ns; /* heard: the last new node */
	bool is_leaving;             /* node parts were requested to end */
	bool has_failed;             /* no memory */
};

static int image_open(struct fleet_job *self, struct err *err)
{
	struct stat file;
	ssize_t size = readlink("/proc/self/exe", self->own_path, sizeof(self->own_path) - 1);

	self->image = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (size < 0 || self->image < 0 || fstat(self->image, &file))
		return err_set(err, -errno, "cannot read limpet itself: %s", strerror(errno));
	self->own_path[size] = '\0';
	self->image_size = (uint64_t)file.st_size;
	return 0;
}

/* The request for one node, or for all. */
static char *request_for(const struct fleet_job *self, const struct node_start *start)
{
	struct node_request request = self->options->request;
	const struct fleet_plan *plan = self->options->plan;

	request.find = plan->find;
	request.node = "";
	request.is_copy = start->is_copied && plan->engine->copy == COPY_BROADCAST;
	if (start->node != NODE_NONE) {
		const struct planned_node *node = &plan->nodes[start->node];

		request.node = node->name;
		if (node->known_count) {
			request.find.way = FIND_PIDS;
			request.find.known = node->known;
			request.find.known_count = node->known_count;
		}
	}
	return request_write(&request);
}

static void command_build(const struct fleet_job *self, const struct node_start *start,
			  const char *request, struct words *ret)
{
	const struct fleet_plan *plan = self->options->plan;
	bool is_local = start->node != NODE_NONE && plan->nodes[start->node].is_local;
	bool is_sent = start->is_copied && plan->engine->copy == COPY_BROADCAST;
	const char *wanted = is_local || is_sent ? NULL : self->options->limpet;
	struct node_command command = { .node = start->node == NODE_NONE ? 0 : start->node,
					.request = request,
					.limpet = wanted ? wanted : self->own_path,
					.size_bytes = self->image_size,
					.is_copied = start->is_copied };

	if (is_local)
		engine_command_local(ret, &command);
	else
		plan->engine->command(ret, plan, &command);
}

static int start_run(struct fleet_job *self, struct node_start *start, struct err *err)
{
	CLEANUP(free) char *request = request_for(self, start);
	CLEANUP(words_done) struct words words = { 0 };

	if (!request)
		return err_set(err, -ENOMEM, "the request to the nodes is too long");
	command_build(self, start, request, &words);
	if (words.has_failed)
		return err_set(err, -ENOMEM, "nodes: no memory");
	return node_start_run(start, (const char *const *)words.items, err);
}

static int starts_run(struct fleet_job *self, struct err *err)
{
	const struct fleet_plan *plan = self->options->plan;
	int r = 0;

	self->start_count = plan->is_one_start ? 1 : plan->node_count;
	self->starts = calloc(self->start_count + 1, sizeof(*self->starts));
	self->fds = calloc(3 * self->start_count + 1, sizeof(*self->fds));
	if (!self->starts || !self->fds)
		return err_set(err, -ENOMEM, "nodes: no memory");
	for (size_t i = 0; i < self->start_count; i++)
		self->starts[i].child = CHILD_NONE;
	for (size_t i = 0; !r && i < self->start_count; i++) {
		struct node_start *start = &self->starts[i];

		start->node = plan->is_one_start ? NODE_NONE : (uint32_t)i;
		start->is_copied = self->options->is_copied;
		start->piece_max = self->options->piece_max *
				   (plan->is_one_start ? MAX(plan->node_count, 1u) : 1u);
		start->has_ended = start->node != NODE_NONE && plan->nodes[i].trouble;
		if (!start->has_ended)
			r = start_run(self, start, err);
	}
	return r;
}

static void node_trouble(struct fleet_job *self, uint32_t node, const char *format, ...)
	PRINTF_LIKE(3, 4);

static void node_trouble(struct fleet_job *self, uint32_t node, const char *format, ...)
{
	va_list arguments;
	char text[512];

	va_start(arguments, format);
	print_list(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (fleet_set_text(self->fleet, &self->fleet->nodes[node].trouble, text))
		self->has_failed = true;
}

static void greeting_take(struct fleet_job *self, struct node_start *start, struct spoken *spoken,
			  struct cursor *cursor)
{
	struct hello_message hello;
	uint32_t node;

	if (message_kind(cursor) != MESSAGE_HELLO || !hello_take(cursor, &hello))
		return;
	node = start->node != NODE_NONE ? start->node : fleet_find_node(self->fleet, hello.node);
	if (node == NODE_NONE && self->options->plan->is_open)
		node = fleet_add_node(self->fleet, hello.node);
	if (node == NODE_NONE || self->fleet->nodes[node].phase != NODE_SILENT)
		return;
	/* Each later node part gets the greeting, too: a launcher may forward it only to those
	 * already running. */
	start->is_greeted = false;
	spoken->is_greeted = true;
	self->heard_ns = now_ns();
	if (hello.protocol != FLEET_PROTOCOL) {
		node_trouble(self, node,
			     "limpet %s there speaks another protocol than limpet %s here",
			     hello.version, self->options->version);
		return;
	}
	spoken->node = node;
	if (fleet_take_hello(self->fleet, node, &hello))
		self->has_failed = true;
}

/* Messages that all actions share. */
static int message_take(struct fleet_job *self, uint32_t node, struct cursor *cursor)
{
	const struct fleet_job_listener *listener = &self->options->listener;
	uint32_t kind = message_kind(cursor);
	struct state_message state;
	struct rank_message rank;
	struct note_message note;

	switch (kind) {
	case MESSAGE_RANK:
		return rank_take(cursor, &rank) ? fleet_take_rank(self->fleet, node, &rank) : 0;
	case MESSAGE_STATE:
		return state_take(cursor, &state) ? fleet_take_state(self->fleet, node, &state) : 0;
	case MESSAGE_NOTE:
		return note_take(cursor, &note) ? fleet_take_note(self->fleet, node, &note) : 0;
	default:
		return listener->message ? listener->message(listener->context, node, kind, cursor)
					 : 0;
	}
}

static void on_message(void *context, struct node_start *start, struct spoken *spoken)
{
	const struct bytes *bytes = &spoken->stream.message;
	struct cursor cursor = { bytes->data, bytes->data + bytes->size, false };
	struct fleet_job *self = context;

	if (!spoken->is_greeted)
		greeting_take(self, start, spoken, &cursor);
	else if (spoken->node != NODE_NONE && message_take(self, spoken->node, &cursor))
		self->has_failed = true;
}

static void on_end(void *context, struct node_start *start, struct spoken *spoken)
{
	struct fleet_job *self = context;

	(void)start;
	if (spoken->node == NODE_NONE)
		return;
	self->fleet->nodes[spoken->node].phase = NODE_ENDED;
	self->fleet->nodes[spoken->node].lost_lines += spoken->stream.lost;
}

static size_t fds_fill(struct fleet_job *self)
{
	size_t count = 0;

	for (size_t i = 0; i < self->start_count; i++) {
		const struct node_start *start = &self->starts[i];
		bool has_input = node_start_has_input(start, self->image_size);

		self->fds[count++] = (struct pollfd){ start->child.output, POLLIN, 0 };
		self->fds[count++] = (struct pollfd){ start->child.errors, POLLIN, 0 };
		self->fds[count++] =
			(struct pollfd){ has_input ? start->child.input : -1, POLLOUT, 0 };
	}
	self->fds[count++] =
		(struct pollfd){ self->is_leaving ? -1 : self->options->signals, POLLIN, 0 };
	return count;
}

static void pipes_serve(struct fleet_job *self)
{
	const struct start_listener listener = { on_message, on_end, self };
	size_t count = fds_fill(self);

	poll(self->fds, count, LOOK_MS);
	for (size_t i = 0; i < self->start_count; i++) {
		struct node_start *start = &self->starts[i];

		if (self->fds[3 * i].revents)
			node_start_read(start, /* is_error */ false, &listener);
		if (self->fds[3 * i + 1].revents)
			node_start_read(start, /* is_error */ true, &listener);
		if (self->fds[3 * i + 2].revents)
			node_start_write(start, self->image, self->image_size);
	}
	if (self->fds[count - 1].revents && interrupt_consume(self->options->signals))
		self->fleet->is_interrupted = true;
}

/* Its node parts cannot send any more: those without an end mark are lost. */
static void start_explain(struct fleet_job *self, const struct node_start *start, uint32_t node)
{
	struct fleet_node *of = &self->fleet->nodes[node];
	char form[64];

	if (of->phase == NODE_ENDED || of->phase == NODE_LOST)
		return;
	if (of->phase == NODE_GREETED)
		of->phase = NODE_LOST;
	if (*of->trouble)
		return;
	child_describe(start->status, form, sizeof(form));
	node_trouble(self, node, "%s%s%s", start->last_words, *start->last_words ? "; " : "", form);
}

static void starts_look(struct fleet_job *self)
{
	bool can_copy = self->options->plan->engine->copy == COPY_BROADCAST && !self->is_leaving;
	struct err ignored = { 0 };

	for (size_t i = 0; i < self->start_count; i++) {
		struct node_start *start = &self->starts[i];

		if (start->has_ended || !node_start_look(start))
			continue;
		/* If it produced nothing, limpet may be missing there: retries once, with a copy of
		 * it. */
		if (can_copy && !start->is_copied && !start->spoken_count) {
			start->is_copied = true;
			child_end(&start->child);
			if (!start_run(self, start, &ignored))
				continue;
		}
		if (start->node != NODE_NONE)
			start_explain(self, start, start->node);
		for (uint32_t k = 0; start->node == NODE_NONE && k < self->fleet->node_count; k++)
			start_explain(self, start, k);
	}
}

static bool all_have_ended(const struct fleet_job *self)
{
	const struct fleet *fleet = self->fleet;

	for (size_t i = 0; i < fleet->node_count; i++)
		if (fleet->nodes[i].phase != NODE_ENDED && fleet->nodes[i].phase != NODE_LOST &&
		    !*fleet->nodes[i].trouble)
			return false;
	return !self->options->plan->is_open ||
	       (fleet->node_count && now_ns() - self->heard_ns > LATECOME_NS);
}

static bool all_have_left(const struct fleet_job *self)
{
	for (size_t i = 0; i < self->start_count; i++)
		if (!self->starts[i].has_ended)
			return false;
	return true;
}

/* Node parts whose input is closed send their rest, and end. */
static void job_serve(struct fleet_job *self)
{
	const struct fleet_job_listener *listener = &self->options->listener;
	uint64_t leave_ns = self->options->leave_ns ? self->options->leave_ns : LEAVE_NS;

	while (!all_have_left(self) && now_ns() < self->until_ns && !self->has_failed) {
		pipes_serve(self);
		starts_look(self);
		if (listener->looked)
			listener->looked(listener->context);
		if (!self->is_leaving && (all_have_ended(self) || self->fleet->is_interrupted)) {
			self->is_leaving = true;
			self->until_ns = MIN(self->until_ns, now_ns() + leave_ns);
			for (size_t i = 0; i < self->start_count; i++)
				child_close_input(&self->starts[i].child);
		}
	}
}

static void late_explain(struct fleet_job *self)
{
	for (uint32_t i = 0; i < self->fleet->node_count; i++) {
		struct fleet_node *node = &self->fleet->nodes[i];

		if (node->phase == NODE_ENDED || *node->trouble)
			continue;
		if (node->phase == NODE_GREETED)
			node->phase = NODE_LOST;
		node_trouble(self, i,
			     self->fleet->is_interrupted ? "stopped by a signal"
							 : "no answer in time");
	}
}

/* A node part that has greeted has removed its own copy. */
static void copies_remove(struct fleet_job *self)
{
	const struct fleet_plan *plan = self->options->plan;
	CLEANUP(words_done) struct words words = { 0 };
	CLEANUP(free) char *said = NULL;
	struct err ignored = { 0 };
	bool are_left = false;

	for (size_t i = 0; i < plan->node_count; i++)
		are_left |= self->fleet->nodes[i].phase == NODE_SILENT && !plan->nodes[i].trouble;
	if (!plan->engine->remove || !self->starts || !self->starts[0].is_copied || !are_left)
		return;
	plan->engine->remove(&words, plan);
	if (!words.has_failed)
		(void)!child_capture((const char *const *)words.items, SAID_MAX, REMOVE_NS, &said,
				     &ignored);
}

static int fleet_begin(struct fleet_job *self, struct err *err)
{
	const struct fleet_plan *plan = self->options->plan;
	int r = text_set(&self->fleet->title, plan->title);

	for (size_t i = 0; !r && i < plan->node_count; i++) {
		uint32_t node = fleet_add_node(self->fleet, plan->nodes[i].name);

		if (node == NODE_NONE ||
		    (plan->nodes[i].trouble &&
		     fleet_set_text(self->fleet, &self->fleet->nodes[node].trouble,
				    plan->nodes[i].trouble)))
			r = -ENOMEM;
		for (size_t k = 0; !r && k < plan->nodes[i].known_count; k++) {
			const struct known_rank *known = &plan->nodes[i].known[k];

			if (!plan->find.has_ranks || rank_set_has(&plan->find.ranks, known->rank))
				r = fleet_expect_rank(self->fleet, node, known->rank, known->pid);
		}
	}
	return r ? err_set(err, r, "nodes: no memory") : 0;
}

int fleet_job_run(const struct fleet_job_options *options, struct fleet *fleet, struct err *err)
{
	struct fleet_job self = { .options = options, .fleet = fleet, .image = -1 };
	const struct find_options *find = &options->plan->find;
	int r = image_open(&self, err);

	signal(SIGPIPE, SIG_IGN);
	descriptors_raise_limit();
	self.until_ns = now_ns() + options->limit_ns;
	if (!r)
		r = fleet_begin(&self, err);
	if (!r)
		r = starts_run(&self, err);
	if (!r)
		job_serve(&self);
	/* All get SIGTERM before the first is waited for. */
	for (size_t i = 0; self.starts && i < self.start_count; i++)
		child_ask_to_end(&self.starts[i].child);
	for (size_t i = 0; self.starts && i < self.start_count; i++)
		node_start_done(&self.starts[i]);
	if (!r) {
		copies_remove(&self);
		late_explain(&self);
		if (self.has_failed || fleet_settle(fleet, find->has_ranks ? &find->ranks : NULL))
			r = err_set(err, -ENOMEM, "ranks: no memory");
	}
	free(self.starts);
	free(self.fds);
	if (self.image >= 0)
		close(self.image);
	return r;
}
