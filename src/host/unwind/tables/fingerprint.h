/*
 * A 64-bit hash that detects another or torn file, not a forged one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FINGERPRINT_BEGIN 0x9e3779b97f4a7c15u

/* Continues from the fingerprint of the bytes before, FINGERPRINT_BEGIN at first. */
uint64_t fingerprint(uint64_t so_far, const void *bytes, size_t size);
