/*
 * Hooks calls by which the application reads its signals: these show that kernels and copies have
 * ended. Runs on application threads, around those calls.
 */
#include "shared/arch/syscall.h"
#include "target/domains/amd/hsa/work_private.h"

#include <time.h>

#define WAIT_SIGNALS 64u
#define GLANCE_NS    50000
#define GLANCES_MAX  500u /* 25 to 50 ms */

/* (signal, ...): the call destroys or sets the signal, which then shows no earlier end. */
void hsa_before_signal(struct hook_around *around, uint64_t *window)
{
	uint64_t signal = around->frame.arguments[0];
	struct hsa_command command;
	uint64_t token;

	(void)window;
	if (!hsa_is_any_seen() || !signal || !pending_count_of(signal))
		return;
	hsa_look_at_signal(signal, hsa_calls.signal_load(signal));
	while ((token = pending_take(signal, INT64_MIN, &command))) {
		pending_give_back(token);
		hsa_write_done(&command, &(struct hsa_time){ 0, 0 });
	}
}

/* (signal): another thread may be reading the signal. That is short unless it was preempted or has
 * ended. */
void hsa_before_signal_destroy(struct hook_around *around, uint64_t *window)
{
	struct timespec pause = { 0, GLANCE_NS };
	uint64_t signal = around->frame.arguments[0];

	if (!hsa_is_any_seen() || !signal)
		return;
	hsa_before_signal(around, window);
	for (unsigned i = 0; pending_has(signal); i++) {
		if (i == GLANCES_MAX) {
			pending_drop(signal);
			return;
		}
		raw2(SYS_nanosleep, &pause, 0);
		hsa_before_signal(around, window);
	}
}

/* (signal, ...) returns the signal's value. */
void hsa_after_load(struct hook_around *around, uint64_t end)
{
	(void)end;
	if (hsa_is_any_seen())
		hsa_look_at_signal(around->frame.arguments[0], (int64_t)around->frame.results[0]);
}

/* (count, signals, ...) returns the index of the signal that met its condition. */
void hsa_after_wait_any(struct hook_around *around, uint64_t end)
{
	const uint64_t *signals = (const uint64_t *)around->frame.arguments[1];
	uint32_t found = (uint32_t)around->frame.results[0];

	(void)end;
	if (hsa_is_any_seen() && found < (uint32_t)around->frame.arguments[0])
		hsa_look_at_awaited(signals[found]);
}

void hsa_after_wait_all(struct hook_around *around, uint64_t end)
{
	const uint64_t *signals = (const uint64_t *)around->frame.arguments[1];
	uint32_t count = MIN((uint32_t)around->frame.arguments[0], WAIT_SIGNALS);

	(void)end;
	for (uint32_t i = 0; hsa_is_any_seen() && i < count; i++)
		hsa_look_at_awaited(signals[i]);
}
