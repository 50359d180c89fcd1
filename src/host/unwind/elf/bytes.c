/*
 * Reads numbers in DWARF's encodings.
 */
#include "host/unwind/elf/bytes.h"

#include <string.h>

#define ENCODING_FORMAT      0x0f
#define ENCODING_APPLICATION 0xf0

static void bytes_advance(struct dwarf_bytes *bytes, uint64_t size)
{
	bytes->at += size;
	bytes->address += size;
}

static bool bytes_have(struct dwarf_bytes *bytes, uint64_t size)
{
	if (size > (uint64_t)(bytes->end - bytes->at))
		bytes->is_broken = true;
	return !bytes->is_broken;
}

/* Both machines are little-endian, as the files are. */
uint64_t dwarf_read_fixed(struct dwarf_bytes *bytes, unsigned size)
{
	uint64_t value = 0;

	if (!bytes_have(bytes, size))
		return 0;
	memcpy(&value, bytes->at, size);
	bytes_advance(bytes, size);
	return value;
}

static uint64_t read_leb(struct dwarf_bytes *bytes, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = dwarf_read_fixed(bytes, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && byte & 0x40)
		value |= UINT64_MAX << shift;
	return value;
}

uint64_t dwarf_read_unsigned(struct dwarf_bytes *bytes)
{
	return read_leb(bytes, false);
}

int64_t dwarf_read_signed(struct dwarf_bytes *bytes)
{
	return (int64_t)read_leb(bytes, true);
}

struct dwarf_bytes dwarf_read_piece(struct dwarf_bytes *bytes, uint64_t size)
{
	struct dwarf_bytes piece = { bytes->at, bytes->at, bytes->address, false };

	if (!bytes_have(bytes, size))
		return piece;
	piece.end += size;
	bytes_advance(bytes, size);
	return piece;
}

struct format {
	unsigned size;
	bool is_signed;
};

/* By the low half of an encoding; size 0 is LEB128. */
static const struct format formats[16] = {
	[0x0] = { 8, false }, [0x1] = { 0, false }, [0x2] = { 2, false }, [0x3] = { 4, false },
	[0x4] = { 8, false }, [0x8] = { 8, true },  [0x9] = { 0, true },  [0xa] = { 2, true },
	[0xb] = { 4, true },  [0xc] = { 8, true },
};

uint64_t dwarf_read_pointer(struct dwarf_bytes *bytes, unsigned encoding)
{
	struct format format = formats[encoding & ENCODING_FORMAT];
	uint64_t address = bytes->address, value;

	if (!format.size)
		value = read_leb(bytes, format.is_signed);
	else
		value = dwarf_read_fixed(bytes, format.size);
	if (format.size && format.is_signed)
		value = (uint64_t)((int64_t)(value << (64 - format.size * 8)) >>
				   (64 - format.size * 8));
	if ((encoding & ENCODING_APPLICATION) == DWARF_RELATIVE)
		return value + address;
	if ((encoding & ENCODING_APPLICATION) != DWARF_ABSOLUTE)
		bytes->is_broken = true;
	return value;
}
