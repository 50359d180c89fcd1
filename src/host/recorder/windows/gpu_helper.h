/*
 * limpet-nvml, limpet's process that loads NVIDIA's libraries: starts it, sends orders, and checks
 * its answers.  It is a child with a socket as its standard input, and ends when that is closed.
 */
#pragma once

#include "host/core/err.h"
#include "shared/wire/gpu_metrics.h"

#include <sys/types.h>

struct gpu_helper {
	pid_t pid;  /* 0: none */
	int socket; /* SOCK_SEQPACKET */
};

/* pm_metrics: as in window_options.  For windows of this many milliseconds.  It has the caller's
 * environment: it loads libraries from where the caller would. */
int gpu_helper_start(struct gpu_helper *ret, uint64_t interval_ms, pid_t pid,
		     const char *pm_metrics, struct err *err) MUST_CHECK;
/* Zero is allowed. */
void gpu_helper_end(struct gpu_helper *helper);
/* Its next message; -ETIME after this many milliseconds. */
int gpu_helper_receive(const struct gpu_helper *helper, int wait_ms, struct gpu_message *ret,
		       struct err *err) MUST_CHECK;
int gpu_helper_order(const struct gpu_helper *helper, char order, struct err *err) MUST_CHECK;
/* Describes a failure; never returns 0.  pid: of the process that is measured, 0 for none. */
int gpu_helper_failed(const struct gpu_message *message, pid_t pid, struct err *err);
/* limpet-nvml has ended, or sent an invalid message; never returns 0. */
int gpu_helper_lost(struct err *err);

typedef int gpu_learn(void *context, const struct gpu_message *message, struct err *err);

/* Calls learn for each message until the helper is ready.  -EINTR after SIGINT or SIGTERM.  pid: as
 * in gpu_helper_failed(). */
int gpu_helper_learn(const struct gpu_helper *helper, pid_t pid, gpu_learn *learn, void *context,
		     struct err *err) MUST_CHECK;

/* All metrics that can be sampled on this machine's first device, as messages of GPU_COUNTED. */
int gpu_metrics_list(gpu_learn *learn, void *context, struct err *err) MUST_CHECK;
