/*
 * Runs a task iterator.
 */
#include "host/sampling/bpf/thread_walk.h"

#include "host/core/cleanup.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#define WALKS_MAX 4 /* for a process that goes on loading code */

static int read_to_end(int link)
{
	CLEANUP(close) int fd = bpf_iter_create(link);
	char nothing[256];
	ssize_t size;

	if (fd < 0)
		return fd;
	do
		size = read(fd, nothing, sizeof(nothing));
	while (size > 0 || (size < 0 && (errno == EINTR || errno == EAGAIN)));
	return size < 0 ? -errno : 0;
}

static int walk_once(const struct kernel_session *session, const struct kernel_question *question,
		     struct err *err)
{
	struct bpf_program *program =
		bpf_object__find_program_by_name(session->files[KERNEL_THREADS], "thread_seen");
	union bpf_iter_link_info which = { .task.pid = question->pid };
	const struct bpf_iter_attach_opts options = { .sz = sizeof(options),
						      .link_info = &which,
						      .link_info_len = sizeof(which) };
	uint32_t zero = 0;
	struct bpf_link *link = NULL;
	int r = bpf_map_update_elem(kernel_session_map(session, "questions"), &zero, question,
				    BPF_ANY);

	if (r)
		return err_set(err, r, "asking for threads: %s", strerror(-r));
	if (program)
		link = bpf_program__attach_iter(program, &options);
	/* Before Linux 6.1 the iterator visits all threads of the machine; the program filters. */
	if (program && !link)
		link = bpf_program__attach_iter(program, NULL);
	if (!link)
		return err_set(err, -errno, "starting a walk over threads: %s", strerror(errno));
	r = read_to_end(bpf_link__fd(link));
	bpf_link__destroy(link);
	return r ? err_set(err, r, "walking over threads: %s", strerror(-r)) : 0;
}

static uint64_t count_unknown(const struct kernel_session *session)
{
	struct kernel_counts counts = { 0 };
	uint32_t zero = 0;

	bpf_map_lookup_elem(kernel_session_map(session, "counts"), &zero, &counts);
	return counts.unknown;
}

int thread_walk(const struct kernel_session *session, struct kernel_tables *tables,
		struct space *space, const struct kernel_question *question, struct err *err)
{
	struct kernel_question next = *question;

	for (int i = 0; i < WALKS_MAX; i++) {
		uint64_t unknown = count_unknown(session);
		int r;

		next.is_last = i + 1 == WALKS_MAX;
		r = walk_once(session, &next, err);
		if (r || count_unknown(session) == unknown)
			return r;
		r = space_refresh(space, err);
		if (!r)
			r = kernel_tables_publish(tables, space, ASKING, err);
		if (r)
			return r;
	}
	return 0;
}
