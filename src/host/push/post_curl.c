/*
 * https, and servers with names: by curl, which has the means.  It reads the request from its
 * input, and ~/.netrc for names and passwords.
 */
#include "host/push/post.h"

#include "host/core/clock.h"
#include "host/core/text/text.h"
#include "host/fleet/child.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 32u
#define ERROR_MAX 512u

struct talk {
	const struct push_post *post;
	struct child child;
	size_t sent;
	char answer[ANSWER_MAX], error[ERROR_MAX];
	size_t answer_size, error_size;
};

static int talk_begin(struct talk *self, struct err *err)
{
	const struct push_post *post = self->post;
	const struct push_format *format = post->address->format;
	char limit[32], tenant[160], type[80], encoding[80];
	const char *argv[WORDS_MAX] = { "curl",
					"--disable", /* no .curlrc */
					"--silent",
					"--show-error",
					"--include",
					"--http1.1",
					"--raw", /* keeps chunks as in the head */
					"--suppress-connect-headers",
					"--netrc-optional",
					"--proto",
					"=http,https",
					"--max-time",
					limit,
					"--header",
					type,
					"--header",
					"Expect:",
					"--data-binary",
					"@-",
					NULL };
	unsigned count = 0;
	uint64_t now = now_ns();

	while (argv[count])
		count++;
	snprintf(limit, sizeof(limit), "%" PRIu64,
		 post->until_ns > now ? (post->until_ns - now) / 1000000000u + 1 : 1);
	snprintf(type, sizeof(type), "Content-Type: %s", format->content_type);
	if (format->content_encoding) {
		snprintf(encoding, sizeof(encoding), "Content-Encoding: %s",
			 format->content_encoding);
		argv[count++] = "--header";
		argv[count++] = encoding;
	}
	if (post->tenant) {
		snprintf(tenant, sizeof(tenant), "X-Scope-OrgID: %s", post->tenant);
		argv[count++] = "--header";
		argv[count++] = tenant;
	}
	argv[count++] = "--url";
	argv[count] = post->address->url;
	return child_start(&self->child, argv, err);
}

static void request_send(struct talk *self)
{
	const struct bytes *body = self->post->body;
	ssize_t sent = write(self->child.input, body->data + self->sent, body->size - self->sent);

	if (sent > 0)
		self->sent += (size_t)sent;
	if ((sent < 0 && errno != EAGAIN && errno != EINTR) || self->sent == body->size)
		child_close_input(&self->child);
}

/* Output without room is read and discarded. */
static void output_read(int *fd, char *buffer, size_t room, size_t *size)
{
	char more[4096];
	ssize_t got = read(*fd, more, sizeof(more));

	if (got > 0) {
		size_t taken = MIN((size_t)got, room - *size);

		memcpy(buffer + *size, more, taken);
		*size += taken;
	} else if (!got || (errno != EAGAIN && errno != EINTR)) {
		close(*fd);
		*fd = -1;
	}
}

static void talk_turn(struct talk *self, const struct pollfd fds[3])
{
	if (fds[0].revents)
		request_send(self);
	if (fds[1].revents)
		output_read(&self->child.output, self->answer, sizeof(self->answer),
			    &self->answer_size);
	if (fds[2].revents)
		output_read(&self->child.errors, self->error, sizeof(self->error) - 1,
			    &self->error_size);
}

static int talk_end_early(const struct talk *self, int code, struct push_answer *ret)
{
	return push_post_end_early(self->post, code, self->answer, self->answer_size, ret);
}

/* Until curl has ended, or enough was received. */
static int talk_hold(struct talk *self, struct push_answer *ret)
{
	int r = -EAGAIN;

	while (r == -EAGAIN && (self->child.output >= 0 || self->child.errors >= 0)) {
		struct pollfd fds[] = { { self->child.input, POLLOUT, 0 },
					{ self->child.output, POLLIN, 0 },
					{ self->child.errors, POLLIN, 0 },
					{ self->post->cancel, POLLIN, 0 } };

		if (now_ns() >= self->post->until_ns)
			return talk_end_early(self, -ETIMEDOUT, ret);
		poll(fds, 4, 100);
		if (fds[3].revents)
			return talk_end_early(self, -ECANCELED, ret);
		talk_turn(self, fds);
		if (self->answer_size)
			r = push_answer_parse(self->answer, self->answer_size,
					      self->child.output < 0 ||
						      self->answer_size == ANSWER_MAX,
					      self->post->address->format->judge, ret);
	}
	return r == -EAGAIN ? -EIO : r;
}

static int talk_explain(const struct talk *self, int code, struct err *err)
{
	struct text text = { self->error, self->error + self->error_size }, line;

	if (code != -EIO)
		return push_post_explain(self->post, code, err);
	err_set(err, code, "push to %s: curl got no answer", self->post->address->url);
	if (text_take_line(&text, &line) && line.end > line.at)
		err_why(err, "%.*s", (int)(line.end - line.at), line.at);
	return code;
}

int push_post_curl(const struct push_post *post, struct push_answer *ret, struct err *err)
{
	struct talk self = { .post = post, .child = CHILD_NONE };
	int r = talk_begin(&self, err);

	if (r)
		return r;
	r = talk_hold(&self, ret);
	child_end(&self.child);
	return r ? talk_explain(&self, r, err) : 0;
}
