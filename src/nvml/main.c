/*
 * limpet-nvml INTERVAL_MS PID, with a socket of limpet's as its standard input: windows of all
 * devices, between GO and STOP.  Ends when limpet does.
 */
#include "nvml/nvml.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000ull
#define LIMPET    STDIN_FILENO

static struct nvml nvml;
static struct device devices[GPU_DEVICES_MAX];
static uint32_t device_count;
static uint64_t next_ns; /* 0: nothing is measured */

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec;
}

/* Who cannot be told any more is gone. */
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

static void devices_tell(void)
{
	struct gpu_message message = { .magic = GPU_MAGIC, .kind = GPU_DEVICE };

	for (uint32_t i = 0; i < device_count; i++) {
		message.device = i;
		if (nvml.device_name(devices[i].handle, message.text, sizeof(message.text)))
			snprintf(message.text, sizeof(message.text), "GPU");
		message_send(&message);
	}
	message.kind = GPU_READY;
	message_send(&message);
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
	next_ns = clock_ns() + interval_ns;
}

static void windows_end(uint32_t pid)
{
	struct gpu_message message;

	for (uint32_t i = 0; i < device_count; i++) {
		device_read(&nvml, &devices[i], pid, &message);
		message.device = i;
		message_send(&message);
	}
}

static void order_obey(char order, uint64_t interval_ns, uint32_t pid)
{
	const struct gpu_message stopped = { .magic = GPU_MAGIC, .kind = GPU_STOPPED };

	if (order == GPU_GO) {
		windows_begin(interval_ns);
		return;
	}
	if (next_ns)
		windows_end(pid);
	next_ns = 0;
	message_send(&stopped);
}

static int wait_ms(void)
{
	uint64_t now = clock_ns();

	if (!next_ns)
		return -1;
	return now >= next_ns ? 0 : (int)((next_ns - now) / NS_PER_MS) + 1;
}

int main(int count, char **words)
{
	uint64_t interval_ns = count == 3 ? strtoull(words[1], NULL, 10) * NS_PER_MS : 0;
	uint32_t pid = count == 3 ? (uint32_t)strtoul(words[2], NULL, 10) : 0;
	struct pollfd limpet = { LIMPET, POLLIN, 0 };

	if (!interval_ns)
		return 2;
	devices_open();
	devices_tell();
	for (;;) {
		char order;

		if (poll(&limpet, 1, wait_ms()) > 0) {
			if (recv(LIMPET, &order, 1, 0) != 1)
				return 0;
			order_obey(order, interval_ns, pid);
		} else if (next_ns && clock_ns() >= next_ns) {
			windows_end(pid);
			while (next_ns <= clock_ns()) /* late rather than never */
				next_ns += interval_ns;
		}
	}
}
