/*
 * Targets of calls in a piece of code, which is read from its beginning, one instruction after the
 * other.
 */
#include "host/unwind/arch/x86_64/direct_calls.h"

#include "host/unwind/arch/x86_64/decoding.h"

#define OPCODE_CALL 0xe8u

size_t direct_calls_each(const struct object_part *piece, size_t margin, call_visitor *visit,
			 void *context)
{
	size_t at = 0;

	while (at + margin < piece->size) {
		struct decoding it = { .bytes = piece->bytes + at, .room = piece->size - at };

		if (decoding_read(&it) & BAD) {
			at++;
			continue;
		}
		at += it.at;
		if (it.map == MAP_ONE && it.opcode == OPCODE_CALL)
			visit(context, piece->address + at + (uint64_t)it.immediate);
	}
	return at;
}
