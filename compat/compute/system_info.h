/*
 * The contents of sysinfo.csv about a machine and the profiled device.
 */
#pragma once

#include "host/counters/amd/devices.h"

/* The name by which AMD's program calls it, "MI300X_A1"; else its architecture. */
void device_model(const struct counter_device *device, char *ret, size_t room);

struct system_info {
	const char *workload, *command;
	const struct counter_device *device;
};

int system_info_write(const struct system_info *info, const char *path, struct err *err) MUST_CHECK;
