/*
 * limpet-nvml, limpet's process that loads NVIDIA's libraries: starts it, sends orders, and checks
 * its answers.
 */
#pragma once

#include "host/attach/children/helper.h"
#include "shared/wire/gpu_metrics.h"

/* pm_metrics: as in window_options.  For windows of this many milliseconds; helper_end() ends
 * it. */
int gpu_helper_start(struct helper *ret, uint64_t interval_ms, pid_t pid, const char *pm_metrics,
		     struct err *err) MUST_CHECK;
/* Its next message; -ETIME after this many milliseconds. */
int gpu_helper_take(const struct helper *helper, int wait_ms, struct gpu_message *ret,
		    struct err *err) MUST_CHECK;
/* The same until then, or until SIGINT or SIGTERM has come: -EINTR. */
int gpu_helper_wait(const struct helper *helper, uint64_t until_ns, struct gpu_message *ret,
		    struct err *err) MUST_CHECK;
int gpu_helper_order(const struct helper *helper, char order, struct err *err) MUST_CHECK;
/* Describes a failure; never returns 0.  pid: of the process that is measured, 0 for none. */
int gpu_helper_failed(const struct gpu_message *message, pid_t pid, struct err *err);
/* limpet-nvml has ended, or sent an invalid message; never returns 0. */
int gpu_helper_lost(struct err *err);

typedef void gpu_metric_visitor(const char *name, const char *description, void *context);

/* All metrics that can be sampled on this machine's first device. */
int gpu_metrics_visit(gpu_metric_visitor *visit, void *context, struct err *err) MUST_CHECK;
