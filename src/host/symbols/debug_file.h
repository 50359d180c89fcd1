/*
 * Debug information that lies in a file of its own: found by build-id, or by the name that the
 * stripped file tells (.gnu_debuglink).
 */
#pragma once

#include "host/symbols/elf/elf_source.h"

#include <sys/types.h>

/* `path` is the stripped file as the process `pid` sees it; its root is looked into after ours.
 * -ENOENT. */
int debug_file_open(struct elf_source *ret, Elf *stripped, const char *path, pid_t pid) MUST_CHECK;
