/*
 * Constants of the loaded program: what they switch off is not even loaded.
 */
#pragma once

#include "kernel/types.h"
#include "shared/wire/kernel.h"

const volatile struct kernel_settings settings SEC(".rodata.settings");
