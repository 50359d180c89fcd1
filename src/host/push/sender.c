/*
 * A queue and its thread.
 */
#include "host/push/sender.h"

#include "host/core/clock.h"
#include "host/core/threads/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define POST_NS      10000000000ull
#define RETRY_NS     1000000000ull
#define RETRY_MAX_NS 60000000000ull

struct waiting {
	struct bytes body;
	uint64_t samples;
	struct waiting *next;
};

struct sender {
	struct sender_options options;
	struct worker worker;
	int cancel; /* readable: no more tries */

	/* Under the worker's lock. */
	struct waiting *first, **end;
	size_t bytes;
	bool is_first_under_way, is_finishing;
	struct sender_totals totals;
};

static void count_add(struct push_count *count, uint64_t samples)
{
	count->pushes++;
	count->samples += samples;
}

static void waiting_free(struct waiting *waiting)
{
	bytes_done(&waiting->body);
	free(waiting);
}

/* Removes the first push from the queue, and counts it there. */
static void first_drop(struct sender *self, struct push_count *as)
{
	struct waiting *first = self->first;

	self->first = first->next;
	if (!self->first)
		self->end = &self->first;
	self->bytes -= first->body.size;
	self->totals.waiting.pushes--;
	self->totals.waiting.samples -= first->samples;
	count_add(as, first->samples);
	waiting_free(first);
}

/* Drops the oldest; one that is just being sent stays, and its successor is dropped. */
static void oldest_drop(struct sender *self)
{
	struct waiting *kept = self->is_first_under_way ? self->first : NULL;

	if (!kept) {
		first_drop(self, &self->totals.lost);
		return;
	}
	self->first = kept->next;
	first_drop(self, &self->totals.lost);
	kept->next = self->first;
	self->first = kept;
	if (!kept->next)
		self->end = &kept->next;
}

void sender_put(struct sender *self, struct bytes *body, uint64_t samples)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));

	worker_lock(&self->worker);
	/* One that never has room costs only itself. */
	while (body->size <= self->options.bytes_max && self->first &&
	       self->bytes + body->size > self->options.bytes_max &&
	       !(self->is_first_under_way && !self->first->next))
		oldest_drop(self);
	if (waiting && self->bytes + body->size <= self->options.bytes_max) {
		*waiting = (struct waiting){ .body = *body, .samples = samples };
		*body = (struct bytes){ 0 };
		*self->end = waiting;
		self->end = &waiting->next;
		self->bytes += waiting->body.size;
		count_add(&self->totals.waiting, samples);
		waiting = NULL;
	} else {
		count_add(&self->totals.lost, samples);
	}
	worker_notify(&self->worker);
	worker_unlock(&self->worker);
	free(waiting);
	bytes_done(body);
}

/* The verdict on a push that the server answered with success: what it refused then, it refuses for
 * good.  The answer lacks the number of samples: all count as refused. */
static struct push_count *answer_judge(struct sender *self, const struct push_answer *answer,
				       struct err *err)
{
	const struct push_format *format = self->options.address->format;
	char why[REJECTION_MAX] = "";
	enum push_verdict verdict =
		format->judge ? format->judge(answer->body, answer->body_size, why) : PUSH_TAKEN;

	if (verdict == PUSH_TAKEN && (answer->is_page || (format->judge && answer->is_cut)))
		verdict = PUSH_UNCLEAR;
	if (verdict == PUSH_TAKEN)
		return &self->totals.sent;
	err_set(err, verdict == PUSH_REJECTED ? -EREMOTEIO : -EBADMSG, "push to %s: %s",
		self->options.address->url,
		verdict == PUSH_REJECTED
			? "the server refused profiles"
			: "whether the server took the profiles cannot be read from its answer");
	if (*why)
		err_why(err, "%s", why);
	return verdict == PUSH_REJECTED ? &self->totals.refused : &self->totals.unclear;
}

/* How long to wait before the next try; 0: none is needed. */
static uint64_t answer_handle(struct sender *self, int r, const struct push_answer *answer,
			      struct err *err, uint64_t patience_ns)
{
	self->is_first_under_way = false;
	if (!r && push_answer_is_good(answer)) {
		struct push_count *as = answer_judge(self, answer, err);

		self->totals.trouble = *err;
		first_drop(self, as);
		return 0;
	}
	if (!r) {
		err_set(err, -EREMOTEIO, "push to %s: the server answered %u",
			self->options.address->url, answer->status);
		if (answer->text[0])
			err_why(err, "%s", answer->text);
	}
	/* A cancelled try proves nothing about the server. */
	if (r != -ECANCELED || !self->totals.trouble.code)
		self->totals.trouble = *err;
	if (!r && !self->options.address->format->is_passing(answer->status)) {
		first_drop(self, &self->totals.refused);
		return 0;
	}
	return MIN(MAX(patience_ns, r ? 0 : answer->retry_after_s * 1000000000u), RETRY_MAX_NS);
}

/* The lock is held, but while it is sent. */
static uint64_t first_send(struct sender *self, uint64_t patience_ns)
{
	struct push_post post = { .address = self->options.address,
				  .tenant = self->options.tenant,
				  .body = &self->first->body,
				  .until_ns = now_ns() + POST_NS,
				  .cancel = self->cancel };
	struct push_answer answer = { 0 };
	struct err err = { 0 };
	int r;

	self->is_first_under_way = true;
	worker_unlock(&self->worker);
	r = push_post(&post, &answer, &err);
	worker_lock(&self->worker);
	return answer_handle(self, r, &answer, &err, patience_ns);
}

static void *sender_run(void *argument)
{
	struct sender *self = argument;
	uint64_t patience_ns = RETRY_NS, pause_ns;

	worker_lock(&self->worker);
	while (!self->worker.is_stopping) {
		if (!self->first) {
			worker_wait(&self->worker);
			continue;
		}
		pause_ns = first_send(self, patience_ns);
		patience_ns = pause_ns ? MIN(patience_ns * 2, RETRY_MAX_NS) : RETRY_NS;
		worker_notify(&self->worker);
		for (uint64_t until_ns = now_ns() + pause_ns;
		     !self->worker.is_stopping && !self->is_finishing && now_ns() < until_ns;)
			(void)!worker_wait_until(&self->worker, until_ns);
		/* At the end it is tried each second. */
		if (pause_ns && self->is_finishing && !self->worker.is_stopping)
			(void)!worker_wait_until(&self->worker, now_ns() + RETRY_NS);
	}
	worker_unlock(&self->worker);
	return NULL;
}

int sender_open(struct sender **ret, const struct sender_options *options, struct err *err)
{
	struct sender *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "no memory");
	self->options = *options;
	if (!self->options.bytes_max)
		self->options.bytes_max = SENDER_BYTES_MAX;
	self->end = &self->first;
	worker_init(&self->worker);
	self->cancel = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = self->cancel < 0 ? -errno : worker_start(&self->worker, sender_run, self);
	if (r) {
		sender_free(self);
		return err_set(err, r, "a thread to send with: %s", strerror(-r));
	}
	*ret = self;
	return 0;
}

void sender_query(struct sender *self, struct sender_totals *ret)
{
	worker_lock(&self->worker);
	*ret = self->totals;
	worker_unlock(&self->worker);
}

void sender_finish(struct sender *self, uint64_t limit_ns, struct sender_totals *ret)
{
	uint64_t until_ns = now_ns() + limit_ns;

	worker_lock(&self->worker);
	self->is_finishing = true;
	worker_notify(&self->worker);
	while (self->first && now_ns() < until_ns)
		(void)!worker_wait_until(&self->worker, until_ns);
	worker_unlock(&self->worker);
	eventfd_write(self->cancel, 1);
	worker_stop(&self->worker);
	while (self->first)
		first_drop(self, &self->totals.lost);
	*ret = self->totals;
}

void sender_free(struct sender *self)
{
	if (!self)
		return;
	if (self->cancel >= 0)
		eventfd_write(self->cancel, 1);
	worker_stop(&self->worker);
	worker_done(&self->worker);
	while (self->first)
		first_drop(self, &self->totals.lost);
	if (self->cancel >= 0)
		close(self->cancel);
	free(self);
}
