/*
 * CRC-32 by zlib, in a separate file: zlib's header defines common names.
 */
#include <zlib.h>

#include "host/recording/format.h"

uint32_t checksum_of(const void *bytes, size_t size)
{
	return (uint32_t)crc32_z(0, bytes, size);
}
