/*
 * A number of 64 bits that tells contents apart: a torn or another file, not a forger.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FINGERPRINT_BEGIN 0x9e3779b97f4a7c15u

/* Continues from the number of what came before, FINGERPRINT_BEGIN at first. */
uint64_t fingerprint(uint64_t so_far, const void *bytes, size_t size);
