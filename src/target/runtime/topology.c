/*
 * Reads the driver's files in the target.
 */
#include "target/runtime/topology.h"

#include "shared/arch/syscall.h"
#include "shared/base/macros.h"
#include "target/runtime/text.h"

#include <fcntl.h>

#define TOPOLOGY "/sys/class/kfd/kfd/topology/nodes/"

size_t topology_read(unsigned node, const char *name, char *text, size_t room)
{
	char path[128];
	size_t at = text_add(path, sizeof(path), 0, TOPOLOGY);
	long fd, size;

	at = text_add_number(path, sizeof(path), at, node);
	at = text_add(path, sizeof(path), at, "/");
	text_add(path, sizeof(path), at, name);
	fd = raw4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0)
		return 0;
	size = raw3(SYS_read, fd, text, room - 1);
	raw1(SYS_close, fd);
	text[MAX(size, 0L)] = 0;
	return (size_t)MAX(size, 0L);
}
