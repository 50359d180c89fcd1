/*
 * .gnu_debugdata ("mini debug info"): a small ELF file with the stripped names, compressed by xz.
 */
#pragma once

#include "host/symbols/elf/elf_source.h"

/* -ENODATA when there is none or it cannot be unpacked. */
int debugdata_open(struct elf_source *ret, Elf *elf) MUST_CHECK;
