/*
 * limpet-nvml, with a socket of limpet's as its standard input: windows of all devices, between GO
 * and STOP.  Ends when limpet does.
 */
#include "nvml/pm.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NS_PER_MS 1000000ull
#define LIMPET    STDIN_FILENO
#define DRAIN_NS  (500 * NS_PER_MS) /* how long PM sampling is let alone at most */

static struct nvml nvml;
static struct device devices[GPU_DEVICES_MAX];
static uint32_t device_count;
static struct pm pm;
static uint64_t next_ns; /* 0: nothing is measured */
static uint64_t drain_ns;

/* Sends a message; exits when limpet has exited. */
static void message_send(const struct gpu_message *message)
{
	if (send(LIMPET, message, sizeof(*message), MSG_NOSIGNAL) != (ssize_t)sizeof(*message))
		exit(0);
}

static void message_fail(enum gpu_failure code, const char *text)
{
	struct gpu_message message = { .magic = GPU_MAGIC, .kind = GPU_FAILURE, .code = code };

	snprintf(message.text, sizeof(message.text), "%s", text ? text : "");
	message_send(&message);
	exit(1);
}

static void pm_need(bool is_fine)
{
	if (!is_fine)
		message_fail(pm.failure.code, pm.failure.text);
}

static void counted_send(uint32_t number, const char *name, const char *description, bool adds_up)
{
	struct gpu_message message = {
		.magic = GPU_MAGIC, .kind = GPU_COUNTED, .code = number, .present = adds_up
	};

	snprintf(message.text, sizeof(message.text), "%s", name);
	snprintf(message.more, sizeof(message.more), "%s", description ? description : "");
	message_send(&message);
}

static void kind_send(enum gpu_message_kind kind)
{
	const struct gpu_message message = { .magic = GPU_MAGIC, .kind = kind };

	message_send(&message);
}

static void devices_send(void)
{
	struct gpu_message message = { .magic = GPU_MAGIC, .kind = GPU_DEVICE };

	for (uint32_t i = 0; i < device_count; i++) {
		message.device = i;
		if (nvml.device_name(devices[i].handle, message.text, sizeof(message.text)))
			snprintf(message.text, sizeof(message.text), "GPU");
		message_send(&message);
	}
}

static void devices_open(void)
{
	uint32_t count = 0;
	int r = nvml_open(&nvml);

	if (r)
		message_fail((enum gpu_failure)(r - 1), "");
	r = nvml.init();
	if (!r)
		r = nvml.device_count(&count);
	if (r)
		message_fail(GPU_REFUSED, nvml.error(r));
	for (uint32_t i = 0; i < MIN(count, GPU_DEVICES_MAX); i++) {
		if (nvml.device(i, &devices[device_count].handle))
			continue;
		device_open(&nvml, &devices[device_count]);
		device_count++;
	}
	if (!device_count)
		message_fail(GPU_NO_DEVICES, "");
}

static void windows_begin(uint64_t interval_ns)
{
	for (uint32_t i = 0; i < device_count; i++)
		device_begin(&nvml, &devices[i]);
	for (size_t i = 0; i < pm.count; i++)
		pm_need(pm_device_start(&pm, &pm.devices[i]));
	next_ns = clock_ns() + interval_ns;
	drain_ns = clock_ns() + DRAIN_NS;
}

/* Drains the samples before the hardware's buffer is full. */
static void samples_drain(void)
{
	for (size_t i = 0; i < pm.count; i++)
		pm_need(pm_device_drain(&pm, &pm.devices[i]));
	drain_ns = clock_ns() + DRAIN_NS;
}

static void windows_end(uint32_t pid)
{
	struct gpu_message message;

	for (uint32_t i = 0; i < device_count; i++) {
		device_read(&nvml, &devices[i], pid, &message);
		message.device = i;
		message_send(&message);
	}
	samples_drain();
	for (size_t i = 0; i < pm.count; i++)
		if (pm_device_window(&pm.devices[i], &pm.metrics, &message))
			message_send(&message);
}

static void order_obey(char order, uint64_t interval_ns, uint32_t pid)
{
	if (order == GPU_GO) {
		windows_begin(interval_ns);
		return;
	}
	if (next_ns) {
		for (size_t i = 0; i < pm.count; i++)
			pm_device_stop(&pm, &pm.devices[i]);
		windows_end(pid);
	}
	next_ns = 0;
	kind_send(GPU_STOPPED);
}

static int wait_ms(void)
{
	uint64_t now = clock_ns(), next = pm.count ? MIN(next_ns, drain_ns) : next_ns;

	if (!next_ns)
		return -1;
	return now >= next ? 0 : (int)((next - now) / NS_PER_MS) + 1;
}

static void do_due(uint64_t interval_ns, uint32_t pid)
{
	if (!next_ns)
		return;
	if (clock_ns() >= next_ns) {
		windows_end(pid);
		while (next_ns <= clock_ns()) /* late rather than never */
			next_ns += interval_ns;
	} else if (clock_ns() >= drain_ns) {
		samples_drain();
	}
}

static int windows_run(uint64_t interval_ns, uint32_t pid)
{
	struct pollfd limpet = { LIMPET, POLLIN, 0 };

	for (;;) {
		char order;

		if (poll(&limpet, 1, wait_ms()) <= 0)
			do_due(interval_ns, pid);
		else if (recv(LIMPET, &order, 1, 0) == 1)
			order_obey(order, interval_ns, pid);
		else
			return 0;
	}
}

static void listed_send(const char *name, const char *description)
{
	static uint32_t number;

	counted_send(number++, name, description, false);
}

static int list_run(void)
{
	pm_need(pm_open(&pm) && pm_list(&pm, listed_send));
	kind_send(GPU_READY);
	return 0;
}

/* Ends with limpet, also while a library call hangs. */
static void *end_with_limpet(void *unused)
{
	struct pollfd limpet = { LIMPET, 0, 0 };

	while (poll(&limpet, 1, -1) <= 0)
		;
	_exit(0);
	return unused;
}

int main(int count, char **words)
{
	uint64_t interval_ns = count >= 3 ? strtoull(words[1], NULL, 10) * NS_PER_MS : 0;
	uint32_t pid = count >= 3 ? (uint32_t)strtoul(words[2], NULL, 10) : 0;
	pthread_t watcher;

	if (pthread_create(&watcher, NULL, end_with_limpet, NULL))
		return 2;
	if (!interval_ns)
		return count == 4 ? list_run() : 2;
	devices_open();
	if (count == 4)
		pm_need(pm_open(&pm) &&
			pm_prepare(&pm, &nvml, devices, device_count, words[3], interval_ns));
	devices_send();
	for (size_t i = 0; i < pm.metrics.count; i++)
		counted_send((uint32_t)i, pm.metrics.names[i],
			     pm_describe(&pm, pm.devices[0].host, pm.metrics.names[i]),
			     pm.metrics.adds_up[i]);
	kind_send(GPU_READY);
	return windows_run(interval_ns, pid);
}
