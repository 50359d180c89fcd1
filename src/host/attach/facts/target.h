/*
 * A process that limpet attaches to: what was read of it while it runs, and the descriptors that
 * stay valid when its number is reused.
 */
#pragma once

#include "host/process/inspect/process.h"
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

/* Reads the process and judges it; on success the target must be closed.  The struct must not
 * move. */
int target_open(struct target *ret, pid_t pid, struct err *err) MUST_CHECK;
/* The same without the judgement: for reading only. */
int target_inspect(struct target *ret, pid_t pid, struct err *err) MUST_CHECK;
/* Reads what needs no right over it: memory is -1 where it may not be read, and thread_fd
 * always. */
int target_identify(struct target *ret, pid_t pid, struct err *err) MUST_CHECK;
void target_close(struct target *target);

/* If the thread through which the process was read has ended, chooses another one. */
void target_choose_thread(struct target *target);

/* True while the process lives (it may have executed another program). */
bool target_lives(const struct target *target);
bool pidfd_lives(int pidfd);

int target_fail_ended(struct err *err);
/* Replaces err if the cause is that the process has ended: that is what the user wants to read. */
void target_prefer_end(int pidfd, pid_t pid, struct err *err);

/* "4711 (redis-server)" */
const char *target_name(const struct target *target, char *buffer, size_t room);

/* The target's thread with the number `inner` there, in the host's numbers; 0: there is none. */
pid_t target_find_thread(const struct target *target, pid_t inner);
/* The same as a pidfd, from which the thread's descriptors can be taken; needs Linux 6.9. */
int target_open_thread(const struct target *target, pid_t inner);
bool threads_can_be_opened(void);

/* Whether a /proc is mounted for the target itself. */
bool target_has_proc(const struct target *target);
