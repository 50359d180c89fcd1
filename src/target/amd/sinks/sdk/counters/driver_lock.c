/*
 * Runs on threads of tools and of limpet. Uses ioctls of AMD's driver (linux/kfd_ioctl.h); the
 * number of this one changed when it was merged into Linux.
 */
#include "target/amd/sinks/sdk/counters/driver_lock.h"

#include "shared/arch/syscall.h"
#include "target/amd/devices/devices.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/runtime/identity.h"
#include "target/runtime/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>

#define KFD_DEVICE       "/dev/kfd"
#define PROFILER_NUMBER  0x28u
#define PROFILER_EARLIER 0x86u /* in AMD's own releases, before version 1.23 */
#define LETTERS          32u

struct kfd_version {
	uint32_t major, minor;
};

struct kfd_profiler {
	uint32_t operation; /* 0: counters */
	uint32_t gpu_id, lock, all_queues;
};
_Static_assert(sizeof(struct kfd_profiler) == 16, "as the driver has it");

/* 0: the driver does not list it. */
static uint32_t gpu_id_of(uint32_t node)
{
	char text[LETTERS];

	return topology_read(node, "gpu_id", text, sizeof(text)) ? (uint32_t)property_number(text)
								 : 0;
}

static unsigned long profiler_request(int fd)
{
	struct kfd_version version = { 0, 0 };
	bool is_linux = !raw3(SYS_ioctl, fd, _IOR('K', 1, struct kfd_version), &version) &&
			(version.major > 1 || (version.major == 1 && version.minor >= 23));

	return _IOWR('K', is_linux ? PROFILER_NUMBER : PROFILER_EARLIER, struct kfd_profiler);
}

static long lock_switch(const struct driver_lock *lock, bool is_on)
{
	struct kfd_profiler ask = { .gpu_id = lock->gpu_id,
				    .lock = is_on,
				    .all_queues = is_on && lock->all_queues };

	return raw3(SYS_ioctl, lock->file.fd, profiler_request(lock->file.fd), &ask);
}

static int status_of(long r)
{
	switch (r) {
	case -EBUSY:
		return SDK_CONTEXT_CONFLICT;
	case -EPERM:
	case -EACCES:
		return SDK_PERMISSION_DENIED;
	default:
		return r < 0 ? SDK_INCOMPATIBLE_KERNEL : SDK_SUCCESS;
	}
}

int driver_lock_acquire(struct driver_lock *lock, uint32_t node, bool all_queues)
{
	long r;

	if (lock->is_held)
		return SDK_SUCCESS;
	/* attach has not checked whether seccomp filters allow ioctl. */
	if (!identity_thread_is_unfiltered())
		return SDK_NOT_AVAILABLE;
	lock->all_queues = all_queues;
	lock->gpu_id = gpu_id_of(node);
	if (!lock->gpu_id)
		return SDK_INCOMPATIBLE_KERNEL;
	r = raw4(SYS_openat, AT_FDCWD, KFD_DEVICE, O_RDWR | O_CLOEXEC, 0);
	if (r < 0)
		return status_of(r);
	lock->file = descriptor_own((int)r);
	r = lock_switch(lock, true);
	lock->is_held = !r;
	if (r)
		descriptor_close(&lock->file);
	return status_of(r);
}

/* The application may have closed the descriptor and opened another file there: then the lock was
 * released with it. */
void driver_lock_release(struct driver_lock *lock)
{
	if (!lock->is_held)
		return;
	lock->is_held = false;
	if (descriptor_is_ours(&lock->file) && identity_thread_is_unfiltered())
		(void)lock_switch(lock, false);
	descriptor_close(&lock->file);
}

void driver_lock_adopt(struct driver_lock *lock)
{
	if (lock->is_held)
		descriptor_close(&lock->file);
	lock->is_held = false;
}
