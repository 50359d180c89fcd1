/*
 * Runs in the child.  Its contents are worthless without the other process, which carries out only
 * the table of commands.
 */
#include "host/ui/front.h"

#include "host/ui/page/page.h"
#include "host/ui/request/routes.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/ui/http/confine.h"

/* An answer is never larger: export files are refused above it. */
#define ANSWER_MAX (UINT64_C(2) << 30)

struct front {
	struct http_server *server;
	int broker;
	struct ui_command command; /* large; one at a time */
};

static const char *const types[UI_TYPES] = {
	[UI_TYPE_JSON] = "application/json",
	[UI_TYPE_COLUMNS] = "application/vnd.limpet.columns",
	[UI_TYPE_FILE] = "application/octet-stream",
};

static bool page_serve(struct front *self, uint64_t tag, const struct http_request *request)
{
	const struct page_part *part = page_find(request->path.at, request->path.size);
	struct http_answer answer = { .status = 200, .is_gzip = true };

	if (!part || request->query.size)
		return false;
	answer.type = part->type;
	answer.size = page_size(part);
	http_server_answer(self->server, tag, &answer, (struct http_body){ .at = part->bytes });
	return true;
}

static void request_handle(void *context, uint64_t tag, const struct http_request *request,
			   const char *body)
{
	struct front *self = context;
	char why[128] = "there is no such page";
	int status = 404;

	if (!http_is_api(request)) {
		if (!page_serve(self, tag, request))
			http_server_refuse(self->server, tag, status, why);
		return;
	}
	status = routes_find(request, body, &self->command, why);
	if (status) {
		http_server_refuse(self->server, tag, status, why);
		return;
	}
	self->command.tag = tag;
	if (send(self->broker, &self->command, sizeof(self->command), MSG_NOSIGNAL | MSG_DONTWAIT) <
	    0)
		http_server_refuse(self->server, tag, 503, "limpet is busy");
}

/* The descriptor of the message; -1: none. */
static int descriptor_of(struct msghdr *message)
{
	struct cmsghdr *item = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (item && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS &&
	    item->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(item), sizeof(fd));
	return fd;
}

static void answer_pass(struct front *self, const struct ui_answer *head, int fd)
{
	struct http_answer answer = { .status = (int)head->status,
				      .type = types[head->type],
				      .file = head->file[0] ? head->file : NULL,
				      .size = head->size };
	void *at = MAP_FAILED;
	struct stat facts;

	/* By the raw system call: libc's fstat() may use a path, which the filter denies. */
	if (fd >= 0 && head->size && head->size <= ANSWER_MAX &&
	    syscall(SYS_fstat, fd, &facts) == 0 && (uint64_t)facts.st_size >= head->size)
		at = mmap(NULL, head->size, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		http_server_refuse(self->server, head->tag, 500, "the answer could not be read");
	else
		http_server_answer(self->server, head->tag, &answer,
				   (struct http_body){ .at = at, .is_mapped = true });
}

static bool answer_receive(void *context)
{
	struct front *self = context;
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control = { 0 };
	struct ui_answer bytes, head;
	struct iovec part = { &bytes, sizeof(bytes) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	ssize_t size = recvmsg(self->broker, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	int fd;

	if (size < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!size)
		return false;
	fd = descriptor_of(&message);
	if (!ui_answer_check(&bytes, (size_t)size, &head))
		answer_pass(self, &head, fd);
	if (fd >= 0)
		close(fd);
	return true;
}

/* Closes all but the needed descriptors: limpet's own would be rights. */
static int descriptors_close(const struct front_options *options)
{
	unsigned kept[HTTP_LISTENERS_MAX + 1], count = 0, from = 3;

	kept[count++] = (unsigned)options->broker;
	for (size_t i = 0; i < HTTP_LISTENERS_MAX; i++)
		if (options->listeners[i] >= 0)
			kept[count++] = (unsigned)options->listeners[i];
	for (unsigned left = count; left; left--) {
		unsigned least = 0;

		for (unsigned i = 1; i < left; i++)
			least = kept[i] < kept[least] ? i : least;
		if (kept[least] > from && syscall(SYS_close_range, from, kept[least] - 1, 0) < 0)
			return -errno;
		from = kept[least] + 1;
		kept[least] = kept[left - 1];
	}
	return syscall(SYS_close_range, from, ~0u, 0) < 0 ? -errno : 0;
}

static struct front front;

void front_run(const struct front_options *options)
{
	struct http_server_options server = { .handler = { .context = &front,
							   .request = request_handle,
							   .readable = answer_receive,
							   .fd = options->broker } };

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	memcpy(server.listeners, options->listeners, sizeof(server.listeners));
	memcpy(server.token, options->token, sizeof(server.token));
	front.broker = options->broker;
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	if (descriptors_close(options) || http_server_new(&front.server, &server) ||
	    confine(options->user, options->group))
		_exit(1);
	close(STDERR_FILENO);
	http_server_run(front.server);
	_exit(0);
}
