/*
 * Fuzzes the auxiliary vector, and the search for a C library's version, which reads foreign bytes
 * too.
 */
#include "fuzz.h"

#include "host/process/auxv.h"
#include "host/process/libc/libc.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct libc glibc = { .flavour = LIBC_GLIBC }, musl = { .flavour = LIBC_MUSL };
	struct auxv auxv;
	struct err err;

	if (auxv_parse(bytes, size, &auxv, &err) == 0) {
		must(auxv.size <= size && auxv.size % 16 == 0);
		for (uint64_t type = 0; type < 64; type++)
			(void)auxv_value(&auxv, type);
	}
	if (libc_version_search((const char *)bytes, size, &glibc))
		must(glibc.major <= 999 && glibc.minor <= 999);
	if (!libc_version_search((const char *)bytes, size, &musl))
		must(musl.major == 0 && musl.minor == 0 && musl.patch == 0);
	return 0;
}
