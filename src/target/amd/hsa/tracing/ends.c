/*
 * Hooks calls by which the application reads its signals: these show that kernels and copies have
 * ended. Runs on application threads, around those calls.
 */
#include "shared/arch/syscall.h"
#include "target/amd/hsa/functions.h"
#include "target/amd/hsa/tracing/tracing.h"

#include <time.h>

#define WAIT_SIGNALS 64u
#define GLANCE_NS    50000
#define GLANCES_MAX  500u /* 25 to 50 ms */

/* (signal, ...): the call destroys or sets the signal, which then shows no earlier end. */
void hsa_before_signal(struct call_frame *frame)
{
	uint64_t signal = frame->integers[0];
	struct hsa_command command;
	uint64_t token;

	if (!hsa_sees_any() || !signal || !pending_count_of(signal))
		return;
	hsa_check_signal(signal, hsa_calls.signal_load(signal));
	while ((token = pending_acquire(signal, INT64_MIN, &command))) {
		pending_release(token);
		hsa_report_done(&command, &(struct hsa_time){ 0, 0 });
	}
}

/* (signal): another thread may be reading the signal. That is short unless it was preempted or has
 * ended. */
void hsa_before_signal_destroy(struct call_frame *frame)
{
	struct timespec pause = { 0, GLANCE_NS };
	uint64_t signal = frame->integers[0];

	if (!hsa_sees_any() || !signal)
		return;
	hsa_before_signal(frame);
	for (unsigned i = 0; pending_has(signal); i++) {
		if (i == GLANCES_MAX) {
			pending_drop(signal);
			return;
		}
		raw2(SYS_nanosleep, &pause, 0);
		hsa_before_signal(frame);
	}
}

/* (signal, ...) returns the signal's value. */
void hsa_after_load(struct call_frame *frame, uint64_t end)
{
	(void)end;
	if (hsa_sees_any())
		hsa_check_signal(frame->integers[0], (int64_t)frame->results[0]);
}

/* (count, signals, ...) returns the index of the signal that met its condition. */
void hsa_after_wait_any(struct call_frame *frame, uint64_t end)
{
	const uint64_t *signals = (const uint64_t *)frame->integers[1];
	uint32_t found = (uint32_t)frame->results[0];

	(void)end;
	if (hsa_sees_any() && found < (uint32_t)frame->integers[0])
		hsa_check_awaited(signals[found]);
}

void hsa_after_wait_all(struct call_frame *frame, uint64_t end)
{
	const uint64_t *signals = (const uint64_t *)frame->integers[1];
	uint32_t count = MIN((uint32_t)frame->integers[0], WAIT_SIGNALS);

	(void)end;
	for (uint32_t i = 0; hsa_sees_any() && i < count; i++)
		hsa_check_awaited(signals[i]);
}
