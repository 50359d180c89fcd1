/*
 * Polls the counter of process numbers; one read of a few bytes when nothing happens.
 */
#include "host/process/forks/process_numbers.h"

#include "host/core/clock.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define ABSENT_NS 10000000ull
#define RANGE_MAX 4096

/* "0.79 2.57 2.72 1/112 1065" */
static int read_last(int fd, pid_t *ret)
{
	char text[128], *number;
	ssize_t size = pread(fd, text, sizeof(text) - 1, 0);

	if (size <= 1)
		return size < 0 ? -errno : -EBADMSG;
	text[size - 1] = '\0'; /* the newline */
	number = strrchr(text, ' ');
	return number ? text_parse_pid(number + 1, ret) : -EBADMSG;
}

static void *store_number(void *ret)
{
	*(pid_t *)ret = gettid();
	return NULL;
}

/* A new thread of limpet's gets a number: is it between the file's values before and after? */
static int check_truth(int fd)
{
	pid_t before = 0, mine = 0, after = 0;
	pthread_t thread;
	int r = read_last(fd, &before);

	if (!r)
		r = -pthread_create(&thread, NULL, store_number, &mine);
	if (r)
		return r;
	pthread_join(thread, NULL);
	r = read_last(fd, &after);
	if (r)
		return r;
	if (before <= after)
		return before < mine && mine <= after ? 0 : -ENOTSUP;
	return before < mine || mine <= after ? 0 : -ENOTSUP; /* they have begun anew */
}

int process_numbers_open(struct process_numbers *ret)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	if (ret->fd < 0)
		return -errno;
	r = check_truth(ret->fd);
	if (!r)
		r = read_last(ret->fd, &ret->last);
	if (r)
		process_numbers_close(ret);
	return r;
}

static void remember_absent(struct process_numbers *self, pid_t pid, uint64_t until_ns)
{
	if (self->absent_count == NUMBERS_ABSENT_MAX)
		return;
	self->absent[self->absent_count].pid = pid;
	self->absent[self->absent_count++].until_ns = until_ns;
}

static void visit_absent(struct process_numbers *self, numbers_visitor *visit, void *context)
{
	size_t count = self->absent_count;
	uint64_t now = now_ns();

	self->absent_count = 0;
	for (size_t i = 0; i < count; i++)
		if (!visit(self->absent[i].pid, context) && now < self->absent[i].until_ns)
			remember_absent(self, self->absent[i].pid, self->absent[i].until_ns);
}

static void visit_range(struct process_numbers *self, pid_t first, pid_t last,
			numbers_visitor *visit, void *context)
{
	uint64_t until_ns = now_ns() + ABSENT_NS;

	for (pid_t pid = first; pid <= last; pid++)
		if (!visit(pid, context))
			remember_absent(self, pid, until_ns);
}

/* The highest number there can be; they begin anew after it. */
static pid_t read_highest(void)
{
	char text[32];
	pid_t highest;
	ssize_t size = text_read_small("/proc/sys/kernel/pid_max", text, sizeof(text));

	if (size > 0)
		text[size - 1] = '\0';
	return size > 0 && !text_parse_pid(text, &highest) ? highest : 0;
}

int process_numbers_poll(struct process_numbers *self, numbers_visitor *visit, void *context)
{
	pid_t before = self->last, last = 0, highest;
	int r = read_last(self->fd, &last);

	if (r)
		return r;
	self->last = last;
	visit_absent(self, visit, context);
	if (last >= before) {
		if (last - before > RANGE_MAX)
			return -EOVERFLOW;
		visit_range(self, before + 1, last, visit, context);
		return 0;
	}
	highest = read_highest();
	if (highest < before || highest - before + last > RANGE_MAX)
		return -EOVERFLOW;
	visit_range(self, before + 1, highest, visit, context);
	visit_range(self, 1, last, visit, context);
	return 0;
}

void process_numbers_close(struct process_numbers *numbers)
{
	if (numbers->fd >= 0)
		close(numbers->fd);
	numbers->fd = -1;
}
