/*
 * Searches a library of the stopped process for the end of a function.
 */
#include "injector/injector.h"

#include "shared/arch/epilogue.h"
#include "shared/elf/image.h"

#define CHUNK 1024u /* instructions */

static bool find_in_range(const struct stopped *self, struct elf_range range, uint64_t *ret,
			  struct epilogue *ret_epilogue)
{
	uint32_t code[CHUNK];

	for (uint64_t at = 0; at + sizeof(code) <= range.size;
	     at += sizeof(code) - EPILOGUE_MAX * sizeof(*code)) {
		if (memory_read(self, range.start + at, code, sizeof(code)))
			return false;
		for (unsigned i = 0; i + EPILOGUE_MAX <= CHUNK; i++) {
			*ret = range.start + at + i * sizeof(*code);
			if (epilogue_read(code + i, ret_epilogue))
				return true;
		}
	}
	return false;
}

bool epilogue_find(const struct stopped *self, const struct elf_image *image, uint64_t *ret,
		   struct epilogue *ret_epilogue)
{
	for (unsigned i = 0; i < image->code_count; i++)
		if (find_in_range(self, image->code[i], ret, ret_epilogue))
			return true;
	return false;
}
