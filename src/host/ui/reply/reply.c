/*
 * Makes and sends answers.
 */
#include "host/ui/reply/reply.h"

#include "host/core/cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct {
	int code;
	uint32_t status;
} statuses[] = {
	{ -EINVAL, 400 }, { -ENOENT, 404 }, { -ESRCH, 404 },  { -EMFILE, 429 },
	{ -ENOMEM, 500 }, { -EIO, 500 },    { -ENOSPC, 500 },
};

int reply_open(struct reply *ret, uint64_t tag, struct err *err)
{
	int fd = memfd_create("limpet-answer", MFD_CLOEXEC);

	*ret = (struct reply){ .out = fd < 0 ? NULL : fdopen(fd, "w") };
	ret->head = (struct ui_answer){ .magic = UI_MAGIC, .status = 200, .tag = tag };
	if (ret->out)
		return 0;
	if (fd >= 0)
		close(fd);
	return err_set(err, -ENOMEM, "answer: no memory");
}

void reply_close(struct reply *reply)
{
	if (reply->out)
		fclose(reply->out);
	reply->out = NULL;
}

/* Errors not in the list conflict with the present state. */
static uint32_t status_of(const struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i].code == err->code)
			return statuses[i].status;
	return 409;
}

void reply_fail(struct reply *reply, const struct err *err)
{
	struct json json = { .out = reply->out };

	rewind(reply->out);
	fflush(reply->out);
	(void)!ftruncate(fileno(reply->out), 0);
	reply->head.status = status_of(err);
	reply->head.type = UI_TYPE_JSON;
	reply->head.file[0] = '\0';
	json_object(&json, NULL);
	json_object(&json, "error");
	json_text(&json, "what", err->what);
	json_text(&json, "why", err->why);
	json_text(&json, "fix", err->fix);
	json_number(&json, "exit", err->exit ? err->exit : EXIT_FAILED);
	json_object_end(&json);
	json_object_end(&json);
}

int reply_send(struct reply *reply, int socket)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control = { 0 };
	struct iovec part = { &reply->head, sizeof(reply->head) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	struct cmsghdr *item = CMSG_FIRSTHDR(&message);
	int fd = fileno(reply->out);
	long size;

	if (fflush(reply->out) || ferror(reply->out) || fseek(reply->out, 0, SEEK_END) ||
	    (size = ftell(reply->out)) < 0)
		return -EIO;
	reply->head.size = (uint64_t)size;
	item->cmsg_level = SOL_SOCKET;
	item->cmsg_type = SCM_RIGHTS;
	item->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(item), &fd, sizeof(fd));
	return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}
