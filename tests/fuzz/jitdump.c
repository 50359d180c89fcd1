/*
 * Fuzzes jitdump files that grow: the first byte says how much of the rest is there at the first
 * look.
 */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/symbols/jit/jitdump.h"

static void check(const struct jit_names *names)
{
	must(names->sorted == names->count);
	for (size_t i = 0; i < names->count; i++) {
		const struct jit_name *name = &names->items[i], *found;
		uint32_t version = jit_names_version(names, name->start, UINT64_MAX);

		must(name->start < name->end && name->end <= name->reach);
		must(!i || name[-1].start <= name->start);
		must(version != 0);
		found = jit_names_find(names, name->start, version);
		must(found && found->start <= name->start && name->start < found->end);
		must(strlen(jit_name_text(names, found)) > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct jit_names names = { 0 };
	struct jitdump dump = { .fd = memfd_create("dump", MFD_CLOEXEC) };
	size_t first;

	if (!size)
		return 0;
	must(dump.fd > 0);
	first = (size - 1) * bytes[0] / 255;
	must(write(dump.fd, bytes + 1, first) == (ssize_t)first);
	(void)!jitdump_read(&dump, &names);
	check(&names);
	must(write(dump.fd, bytes + 1 + first, size - 1 - first) == (ssize_t)(size - 1 - first));
	(void)!jitdump_read(&dump, &names);
	check(&names);
	jitdump_close(&dump);
	jit_names_done(&names);
	return 0;
}
