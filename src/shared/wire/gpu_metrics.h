/*
 * What limpet and limpet-nvml, the process that asks NVIDIA's library, tell each other: datagrams
 * of one size on a SOCK_SEQPACKET pair.  limpet-nvml begins with a DEVICE for each device and
 * READY, or a FAILURE; GO and STOP are bytes that it is sent, each STOP answered by STOPPED.  It
 * ends when the other end is closed.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdint.h>

#define GPU_DEVICES_MAX 64u
#define GPU_TEXT_MAX    96u
#define GPU_MAGIC       0x6c70677531000000ull

enum gpu_metric {
#define GPU_METRIC(name, ...) GPU_##name,
#include "shared/wire/gpu_metrics.def"
	GPU_METRICS,
};
_Static_assert(GPU_METRICS <= 32, "bits of 32 say which are there");

enum gpu_message_kind {
	GPU_DEVICE,  /* text: its name */
	GPU_READY,   /* values[0]: how many there are */
	GPU_FAILURE, /* code: why; text: in NVML's words */
	GPU_WINDOW,
	GPU_STOPPED,
	GPU_MESSAGES,
};

enum gpu_failure {
	GPU_NO_LIBRARY,  /* libnvidia-ml.so.1 is not there */
	GPU_OLD_LIBRARY, /* a function of it is not */
	GPU_REFUSED,     /* it does not begin */
	GPU_NO_DEVICES,
	GPU_FAILURES,
};

enum gpu_order { GPU_GO = 'g', GPU_STOP = 's' };

struct gpu_message {
	uint64_t magic;
	uint32_t kind, device;
	uint32_t code;             /* of a failure */
	uint32_t present;          /* bits: which values there are */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	double values[GPU_METRICS];
	char text[GPU_TEXT_MAX];
};
