/*
 * By ioctls of AMD's driver (linux/kfd_ioctl.h), whose number changed when they were merged into
 * Linux.
 */
#include "host/counters/amd/device_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define KFD_DEVICE       "/dev/kfd"
#define PROFILER_NUMBER  0x28u
#define PROFILER_EARLIER 0x86u /* in AMD's own releases, before version 1.23 */

struct kfd_version {
	uint32_t major, minor;
};

enum { PROFILER_COUNTERS = 0, PROFILER_VERSION = 2 };

struct kfd_profiler {
	uint32_t operation;
	uint32_t gpu_id, lock, all_queues;
};

_Static_assert(sizeof(struct kfd_profiler) == 16, "as the driver has it");

static unsigned long profiler_request(int fd)
{
	struct kfd_version version = { 0 };
	bool is_linux = !ioctl(fd, _IOR('K', 1, struct kfd_version), &version) &&
			(version.major > 1 || (version.major == 1 && version.minor >= 23));

	return _IOWR('K', is_linux ? PROFILER_NUMBER : PROFILER_EARLIER, struct kfd_profiler);
}

static int lock_refuse(const struct counter_device *device, struct err *err)
{
	err_set(err, -EBUSY, "another profiler has the counters of device %u (%s)", device->node,
		device->architecture);
	err_why(err, "a device has each counter once, and its driver gives them to one at a time");
	err_fix(err, "end the other one (rocprofv3, omniperf, a monitoring agent), or wait for it");
	return err_exit(err, EXIT_BUSY);
}

/* 0 or -errno. */
static int lock_switch(const struct device_lock *self, uint32_t gpu_id, bool is_on, bool all_queues)
{
	struct kfd_profiler ask = { .operation = PROFILER_COUNTERS,
				    .gpu_id = gpu_id,
				    .lock = is_on,
				    .all_queues = all_queues };

	return ioctl(self->fd, self->request, &ask) ? -errno : 0;
}

static int lock_add(struct device_lock *self, const struct counter_device *device, bool all_queues,
		    struct err *err)
{
	int r = lock_switch(self, device->gpu_id, /* is_on */ true, all_queues);

	if (r == -EBUSY)
		return lock_refuse(device, err);
	if (r)
		self->state = r == -EPERM || r == -EACCES ? LOCK_FORBIDDEN : LOCK_UNKNOWN;
	else
		self->gpu_ids[self->count++] = device->gpu_id;
	return 0;
}

static int lock_all(struct device_lock *self, const struct counter_devices *devices,
		    const char *architecture, bool all_queues, struct err *err)
{
	struct kfd_profiler ask = { .operation = PROFILER_VERSION };
	int r = 0;

	self->request = profiler_request(self->fd);
	self->state = ioctl(self->fd, self->request, &ask) ? LOCK_UNKNOWN : LOCK_HELD;
	for (size_t i = 0; !r && self->state == LOCK_HELD && i < devices->count; i++)
		if (!strcmp(devices->items[i].architecture, architecture))
			r = lock_add(self, &devices->items[i], all_queues, err);
	return r;
}

static void lock_end(struct device_lock *self)
{
	for (size_t i = 0; i < self->count; i++)
		(void)!lock_switch(self, self->gpu_ids[i], /* is_on */ false, false);
	if (self->fd >= 0)
		close(self->fd);
	self->count = 0;
	self->fd = -1;
}

int device_lock_take(struct device_lock *ret, const struct counter_devices *devices,
		     const char *architecture, bool all_queues, struct err *err)
{
	int r;

	*ret = (struct device_lock){ .fd = -1, .state = LOCK_UNKNOWN };
	if (devices->is_model)
		return 0;
	ret->fd = open(KFD_DEVICE, O_RDWR | O_CLOEXEC);
	if (ret->fd < 0) {
		ret->state = errno == EACCES || errno == EPERM ? LOCK_FORBIDDEN : LOCK_UNKNOWN;
		return 0;
	}
	r = lock_all(ret, devices, architecture, all_queues, err);
	if (r || ret->state != LOCK_HELD)
		lock_end(ret);
	return r;
}

void device_lock_release(struct device_lock *lock)
{
	lock_end(lock);
	*lock = DEVICE_LOCK_NONE;
}
