/*
 * Debug information in a separate file: found by build-id, or by the name in the stripped file
 * (.gnu_debuglink).
 */
#pragma once

#include "host/symbols/elf/elf_source.h"

#include <sys/types.h>

/* `path` is the stripped file as the process `pid` sees it; its root is searched after limpet's.
 * -ENOENT. */
int debug_file_open(struct elf_source *ret, Elf *stripped, const char *path, pid_t pid) MUST_CHECK;

/* .gnu_debugdata ("mini debug info"): a small ELF file with the stripped names, compressed by xz.
 * -ENODATA when there is none or it cannot be unpacked. */
int debugdata_open(struct elf_source *ret, Elf *elf) MUST_CHECK;
