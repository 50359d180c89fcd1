/*
 * Loads src/kernel/syscalls.bpf.c, adds processes to its maps, and reads its ring.
 */
#include "host/syscalls/syscall_source.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/process/forks/descendants.h"
#include "host/sampling/bpf/kernel_session.h"
#include "host/syscalls/syscall_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOKS_MAX 16 /* for a family that goes on growing */

static const char *const programs[] = { "process_forked", "call_entered", "call_returned",
					"process_executed", "thread_ended" };

struct syscall_source {
	struct kernel_session session;
	struct bpf_link *links[ARRAY_SIZE(programs)]; /* NULL: not started, or stopped */
	struct ring_buffer *ring;
	int processes, threads, counts; /* descriptors of maps: the session's */
	syscall_visitor *visit;         /* while it is drained */
	void *context;
	int answer; /* of the visitor */
};

int syscall_source_probe(struct err *err)
{
	return kernel_session_probe_syscalls(err);
}

/* Foreign memory was read into it; the size is the kernel's. */
static int take_record(void *context, void *data, size_t size)
{
	struct syscall_source *self = context;
	const struct syscall_record *record = data;

	if (size < sizeof(*record) || record->kind >= SYSCALL_RECORD_KINDS ||
	    size - sizeof(*record) < record->path_bytes ||
	    (record->path_bytes && record->path[record->path_bytes - 1]))
		return 0;
	self->answer = self->visit(record, self->context);
	return self->answer;
}

/* Loads the programs, and tells them the shapes of calls. */
static int source_load(struct syscall_source *self, const struct syscall_source_options *options,
		       struct err *err)
{
	const struct kernel_settings settings = { .with_children = options->has_children };
	uint64_t bytes = options->ring_bytes ? options->ring_bytes : SYSCALL_RING_BYTES;
	const struct kernel_sizes sizes = { .ring_bytes = (uint32_t)MAX(
						    bytes, (uint64_t)sysconf(_SC_PAGESIZE)) };
	int r = kernel_session_init(&self->session, &settings, &sizes, err), map;

	if (!r)
		r = kernel_session_load(&self->session, KERNEL_SYSCALLS, err);
	if (r)
		return r;
	self->processes = kernel_session_map(&self->session, "syscall_processes");
	self->threads = kernel_session_map(&self->session, "syscall_threads");
	self->counts = kernel_session_map(&self->session, "syscall_counts");
	self->ring = kernel_session_ring(&self->session, take_record, self, err);
	if (!self->ring)
		return err->code;
	map = kernel_session_map(&self->session, "syscall_shapes");
	for (uint32_t i = 0; !r && i < SYSCALL_NUMBERS_MAX; i++) {
		uint8_t shape = syscall_shape(i);

		r = shape ? bpf_map_update_elem(map, &i, &shape, BPF_ANY) : 0;
	}
	return r ? err_set(err, r, "telling the kernel what calls are: %s", strerror(-r)) : 0;
}

/* 1: it is new there. */
static int source_add(const struct syscall_source *self, pid_t pid, struct err *err)
{
	struct syscall_process process = { (uint32_t)pid };
	int r = bpf_map_update_elem(self->processes, &process.pid, &process, BPF_NOEXIST);

	if (r == -EEXIST)
		return 0;
	if (r)
		return err_set(err, r, "%u processes are too many: %s", KERNEL_PROCESSES_MAX,
			       strerror(-r));
	/* The number of a process that has ended meanwhile could be reused. */
	if (kill(pid, 0) && errno == ESRCH)
		bpf_map_delete_elem(self->processes, &process.pid);
	return 1;
}

/* Adds its descendants, until no new one was forked from an unknown one. */
static int source_add_family(const struct syscall_source *self, pid_t root, struct err *err)
{
	int added = 1;

	for (unsigned look = 0; added > 0 && look < LOOKS_MAX; look++) {
		CLEANUP(free) pid_t *pids = NULL;
		size_t count = 0;
		int r = descendants_list(root, &pids, &count, err);

		added = 0;
		for (size_t i = 0; r >= 0 && i < count; i++) {
			r = source_add(self, pids[i], err);
			added += r > 0;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int syscall_source_open(struct syscall_source **ret, const struct syscall_source_options *options,
			struct err *err)
{
	struct syscall_source *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "tracing system calls");
	r = source_load(self, options, err);
	for (size_t i = 0; !r && i < ARRAY_SIZE(programs); i++)
		r = kernel_session_start(&self->session, KERNEL_SYSCALLS, programs[i],
					 &self->links[i], err);
	/* Last: all programs see the processes from the same moment on. */
	for (size_t i = 0; r >= 0 && i < options->pid_count; i++) {
		r = source_add(self, options->pids[i], err);
		if (r >= 0 && options->has_children)
			r = source_add_family(self, options->pids[i], err);
	}
	if (r < 0) {
		syscall_source_close(self);
		return err_while(err, "tracing system calls");
	}
	*ret = self;
	return 0;
}

int syscall_source_drain(struct syscall_source *self, syscall_visitor *visit, void *context)
{
	int r;

	self->visit = visit;
	self->context = context;
	self->answer = 0;
	r = ring_buffer__consume(self->ring);
	return self->answer ? self->answer : r;
}

static void source_end(struct syscall_source *self, size_t program)
{
	bpf_link__destroy(self->links[program]);
	self->links[program] = NULL;
}

/* Stops adding processes, then removes them, then detaches the programs: so no call is seen to
 * return that was not seen to be entered. */
void syscall_source_stop(struct syscall_source *self)
{
	uint32_t pid;

	source_end(self, 0);
	while (self->processes > 0 && !bpf_map_get_next_key(self->processes, NULL, &pid))
		if (bpf_map_delete_elem(self->processes, &pid))
			break;
	for (size_t i = 1; i < ARRAY_SIZE(programs); i++)
		source_end(self, i);
}

void syscall_source_each_thread(const struct syscall_source *self, syscall_thread_visitor *visit,
				void *context)
{
	uint32_t key = 0, *last = NULL;
	struct syscall_thread thread;

	for (size_t i = 0;
	     i < SYSCALL_THREADS_MAX && !bpf_map_get_next_key(self->threads, last, &key); i++) {
		last = &key;
		if (!bpf_map_lookup_elem(self->threads, &key, &thread))
			visit(&thread, context);
	}
}

int syscall_source_list(const struct syscall_source *self, pid_t **ret, size_t *ret_count,
			struct err *err)
{
	CLEANUP(free) pid_t *pids = NULL;
	uint32_t key = 0, *last = NULL;
	size_t count = 0, room = 0;

	while (count < KERNEL_PROCESSES_MAX && !bpf_map_get_next_key(self->processes, last, &key)) {
		last = &key;
		if (make_room(&pids, count, &room, sizeof(*pids)))
			return err_set(err, -ENOMEM, "system calls: no memory");
		pids[count++] = (pid_t)key;
	}
	*ret = TAKE(pids);
	*ret_count = count;
	return 0;
}

bool syscall_source_has_processes(const struct syscall_source *self)
{
	uint32_t pid;

	return !bpf_map_get_next_key(self->processes, NULL, &pid);
}

void syscall_source_counts(const struct syscall_source *self, struct syscall_counts *ret)
{
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(self->counts, &zero, ret))
		*ret = (struct syscall_counts){ 0 };
}

void syscall_source_close(struct syscall_source *self)
{
	if (!self)
		return;
	syscall_source_stop(self);
	ring_buffer__free(self->ring);
	kernel_session_done(&self->session);
	free(self);
}
