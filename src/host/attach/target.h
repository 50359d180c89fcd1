/*
 * A process that is being attached to: what was found out about it while it runs, and the
 * descriptors that stay valid when its number is reused.
 */
#pragma once

#include "host/process/process.h"
#include "shared/elf/image.h"
#include "shared/wire/job.h"
#include "shared/wire/page.h"

struct target {
	struct process process;
	int pidfd;     /* of the process */
	int thread_fd; /* of a living thread */
	int memory;    /* /proc/PID/mem, for reading */
	struct memory_reader reader;
};

/* Looks at the process and judges it; on success the target must be closed.  The address must not
 * change. */
int target_open(struct target *ret, pid_t pid, struct err *err) MUST_CHECK;
/* The same without the judgement: for reading only. */
int target_look(struct target *ret, pid_t pid, struct err *err) MUST_CHECK;
/* What can be known without any right over it: memory is -1 where it may not be read, and
 * thread_fd always. */
int target_meet(struct target *ret, pid_t pid, struct err *err) MUST_CHECK;
void target_close(struct target *target);

/* When the thread through which it was seen has ended, another one is taken. */
void target_look_again(struct target *target);

/* True while the process lives (it may have executed another program). */
bool target_lives(const struct target *target);
bool pidfd_lives(int pidfd);

int target_fail_ended(struct err *err);
/* Whatever failed, if it failed because the process is gone: that is what a person wants to read.
 */
void target_prefer_end(int pidfd, pid_t pid, struct err *err);

/* "4711 (redis-server)" */
const char *target_name(const struct target *target, char *buffer, size_t room);

/* A thread of it that it counts as `inner`, as the host counts; 0: there is none. */
pid_t target_find_thread(const struct target *target, pid_t inner);
/* The same as a descriptor, from which those of the thread can be taken; needs Linux 6.9. */
int target_open_thread(const struct target *target, pid_t inner);
bool threads_can_be_opened(void);

/* Whether the target itself sees a /proc. */
bool target_has_proc(const struct target *target);
