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
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000ull
#define LIMPET    STDIN_FILENO
#define TAKE_NS   (500 * NS_PER_MS) /* how long PM sampling is let alone at most */

static struct nvml nvml;
static struct device devices[GPU_DEVICES_MAX];
static uint32_t device_count;
static struct pm pm;
static uint64_t next_ns; /* 0: nothing is measured */
static uint64_t take_ns;

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec;
}

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

static void pm_need(bool is_fine, const struct pm_failure *failure)
{
	if (!is_fine)
		message_fail(failure->code, failure->text);
}

static void counted_tell(uint32_t number, const char *name, const char *description, bool adds_up)
{
	struct gpu_message message = {
		.magic = GPU_MAGIC, .kind = GPU_COUNTED, .code = number, .present = adds_up
	};

	snprintf(message.text, sizeof(message.text), "%s", name);
	snprintf(message.more, sizeof(message.more), "%s", description ? description : "");
	message_send(&message);
}

static void metrics_tell(void)
{
	for (size_t i = 0; i < pm.metrics.count; i++) {
		struct cupti_properties facts =
			CUPTI_GIVEN(struct cupti_properties, kind, .host = pm.devices[0].host,
				    .name = pm.metrics.names[i]);

		counted_tell((uint32_t)i, pm.metrics.names[i],
			     pm.cupti.properties(&facts) ? NULL : facts.description,
			     pm.metrics.adds_up[i]);
	}
}

static void ready_tell(void)
{
	const struct gpu_message message = { .magic = GPU_MAGIC, .kind = GPU_READY };

	message_send(&message);
}

static void devices_tell(void)
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
	struct pm_failure failure;

	for (uint32_t i = 0; i < device_count; i++)
		device_begin(&nvml, &devices[i]);
	for (size_t i = 0; i < pm.count; i++)
		pm_need(pm_device_start(&pm.cupti, &pm.devices[i], &failure), &failure);
	next_ns = clock_ns() + interval_ns;
	take_ns = clock_ns() + TAKE_NS;
}

/* Drains the samples before the hardware's buffer is full. */
static void samples_take(void)
{
	struct pm_failure failure;

	for (size_t i = 0; i < pm.count; i++)
		pm_need(pm_device_take(&pm.cupti, &pm.devices[i], &pm.metrics, &failure), &failure);
	take_ns = clock_ns() + TAKE_NS;
}

static void windows_end(uint32_t pid)
{
	struct gpu_message message;

	for (uint32_t i = 0; i < device_count; i++) {
		device_read(&nvml, &devices[i], pid, &message);
		message.device = i;
		message_send(&message);
	}
	samples_take();
	for (size_t i = 0; i < pm.count; i++)
		if (pm_device_window(&pm.devices[i], &pm.metrics, &message))
			message_send(&message);
}

static void samples_end(void)
{
	for (size_t i = 0; i < pm.count; i++)
		pm_device_stop(&pm.cupti, &pm.devices[i]);
}

static void order_obey(char order, uint64_t interval_ns, uint32_t pid)
{
	const struct gpu_message stopped = { .magic = GPU_MAGIC, .kind = GPU_STOPPED };

	if (order == GPU_GO) {
		windows_begin(interval_ns);
		return;
	}
	if (next_ns) {
		samples_end();
		windows_end(pid);
	}
	next_ns = 0;
	message_send(&stopped);
}

static int wait_ms(void)
{
	uint64_t now = clock_ns(), next = pm.count ? MIN(next_ns, take_ns) : next_ns;

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
	} else if (clock_ns() >= take_ns) {
		samples_take();
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

static void listed_tell(const char *name, const char *description)
{
	static uint32_t number;

	counted_tell(number++, name, description, false);
}

static int list_run(void)
{
	struct pm_failure failure;

	pm_need(pm_open(&pm, &failure), &failure);
	pm_need(pm_list(&pm.cupti, &pm.devices[0].chip, listed_tell, &failure), &failure);
	ready_tell();
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
	struct pm_failure failure;
	pthread_t watcher;

	if (pthread_create(&watcher, NULL, end_with_limpet, NULL))
		return 2;
	if (!interval_ns)
		return count == 4 ? list_run() : 2;
	devices_open();
	if (count == 4)
		pm_need(pm_open(&pm, &failure) && pm_prepare(&pm, &nvml, devices, device_count,
							     words[3], interval_ns, &failure),
			&failure);
	devices_tell();
	metrics_tell();
	ready_tell();
	return windows_run(interval_ns, pid);
}
