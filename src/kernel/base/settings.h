/*
 * Constants of the loaded programs: the verifier removes code that these disable.
 */
#pragma once

#include "kernel/base/types.h"
#include "shared/wire/kernel.h"

const volatile struct kernel_settings settings SEC(".rodata.settings");
