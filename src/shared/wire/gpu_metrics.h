/*
 * The protocol of limpet and limpet-nvml, the process that calls NVIDIA's libraries: datagrams of
 * one size on a SOCK_SEQPACKET pair.  limpet-nvml begins with a DEVICE for each device, a COUNTED
 * for each metric of PM sampling, and READY, or a FAILURE; limpet sends GO and STOP as bytes, and
 * each STOP is answered by STOPPED.  It ends when the other end is closed.
 *
 *   limpet-nvml INTERVAL_MS PID            metrics of NVML
 *   limpet-nvml INTERVAL_MS PID METRICS    also what CUPTI samples: METRICS with commas, "" for
 *                                          the usual ones
 *   limpet-nvml 0 0 ""                     a COUNTED for each metric that there is, READY
 */
#pragma once

#include "shared/base/macros.h"

#include <stdint.h>

#define GPU_DEVICES_MAX 64u
#define GPU_TEXT_MAX    96u
#define GPU_MORE_MAX    160u
#define GPU_COUNTED_MAX 32u /* metrics of PM sampling at once */
#define GPU_MAGIC       0x6c70677532000000ull

enum gpu_metric {
#define GPU_METRIC(name, ...) GPU_##name,
#include "shared/wire/gpu_metrics.def"
	GPU_METRICS,
};
_Static_assert(GPU_METRICS <= GPU_COUNTED_MAX && GPU_COUNTED_MAX <= 32, "bits say which are there");

enum gpu_message_kind {
	GPU_DEVICE,  /* text: its name */
	GPU_COUNTED, /* code: its number; text: its name; more: what it is; present: it adds up */
	GPU_READY,   /* values[0]: how many there are */
	GPU_FAILURE, /* code: why; text: in the library's words */
	GPU_WINDOW,
	GPU_COUNTED_WINDOW, /* of PM sampling */
	GPU_STOPPED,
	GPU_MESSAGES,
};

enum gpu_failure {
	GPU_NO_LIBRARY,  /* libnvidia-ml.so.1 is not there */
	GPU_OLD_LIBRARY, /* a function of it is not */
	GPU_REFUSED,     /* it does not begin */
	GPU_NO_DEVICES,
	/* Of PM sampling: */
	GPU_PM_NO_LIBRARY,  /* no libcupti */
	GPU_PM_OLD_LIBRARY, /* a function of it is not there */
	GPU_PM_REFUSED,
	GPU_PM_NO_RIGHTS,
	GPU_PM_HELD,           /* by another profiler */
	GPU_PM_NO_CHIP,        /* that it can sample */
	GPU_PM_UNKNOWN_METRIC, /* text: its name */
	GPU_PM_PASSES,         /* text: the number of passes */
	GPU_PM_TOO_MANY,
	GPU_PM_NOT_OF_WINDOWS, /* text: its name */
	GPU_FAILURES,
};

enum gpu_order { GPU_GO = 'g', GPU_STOP = 's' };

struct gpu_message {
	uint64_t magic;
	uint32_t kind, device;
	uint32_t code;             /* of a failure */
	uint32_t present;          /* bits: which values there are */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	double values[GPU_COUNTED_MAX];
	char text[GPU_TEXT_MAX], more[GPU_MORE_MAX];
};
