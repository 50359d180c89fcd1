/*
 * Parses signatures. Has no side effects; also used for records that are read later.
 */
#include "target/amd/tables/signature.h"

#include "shared/arch/thunk.h"

#include <string.h>

#define WORD          8u
#define VECTORS       8u
#define IN_REGISTERS  16u /* larger structures are passed in memory */
#define DIMENSIONS_OF 12u

static bool ends_field(char letter)
{
	return !letter || letter == ':' || letter == '|';
}

static const char *field_end(const char *at)
{
	while (!ends_field(*at))
		at++;
	return at;
}

static uint16_t number_at(const char *text)
{
	unsigned number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		number = number * 10 + (unsigned)(*text - '0');
	return (uint16_t)number;
}

static uint16_t size_of(const char *code)
{
	if (*code == 'p' || *code == 's' || *code == 'h')
		return WORD;
	if (*code == 'e')
		return WORD / 2;
	return *code == 'd' ? DIMENSIONS_OF : number_at(code + 1);
}

static uint16_t alignment_of(const char *code, uint16_t size)
{
	if (*code == 'd')
		return WORD / 2;
	if (*code == 'c')
		return 1;
	return *code == 'x' ? WORD : MAX(size, 1u);
}

bool signature_next(const char **at, struct argument_text *ret)
{
	const char *text = *at;

	while (*text && *text != '|')
		text++;
	if (!*text)
		return false;
	ret->name = text + 1;
	ret->type = field_end(ret->name) + 1;
	ret->code = field_end(ret->type) + 1;
	ret->size = size_of(ret->code);
	ret->alignment = alignment_of(ret->code, ret->size);
	*at = ret->code;
	return true;
}

/* Registers and stack words that earlier arguments use. */
struct convention {
	unsigned integers, vectors, stack;
};

static struct argument_place place_on_stack(struct convention *used, uint16_t size)
{
	struct argument_place place = { SOURCE_STACK, (uint8_t)used->stack, 0, size };

	used->stack += (size + WORD - 1) / WORD;
	return place;
}

static struct argument_place place_integer(struct convention *used, uint16_t size)
{
	unsigned words = (size + WORD - 1u) / WORD;
	struct argument_place place = { SOURCE_INTEGER, (uint8_t)used->integers, 0, size };

	if (used->integers + words > ARGUMENT_REGISTERS) {
#if defined(__aarch64__)
		used->integers = ARGUMENT_REGISTERS;
#else
		(void)0;
#endif
		return place_on_stack(used, size);
	}
	used->integers += words;
	return place;
}

static struct argument_place place_large(struct convention *used, uint16_t size)
{
#if defined(__aarch64__)
	struct argument_place place = place_integer(used, WORD);

	place.source = place.source == SOURCE_STACK ? SOURCE_POINTED2 : SOURCE_POINTED;
	place.size = size;
	return place;
#else
	return place_on_stack(used, size);
#endif
}

static struct argument_place place_of(struct convention *used, const struct argument_text *text)
{
	if (*text->code == 'f') {
		if (used->vectors == VECTORS)
			return place_on_stack(used, text->size);
		return (struct argument_place){ SOURCE_VECTOR, (uint8_t)used->vectors++, 0,
						text->size };
	}
	return text->size > IN_REGISTERS ? place_large(used, text->size)
					 : place_integer(used, text->size);
}

/* x86-64 passes the address of such a result as a hidden first argument. */
static bool has_hidden_argument(const char *result)
{
#if defined(__x86_64__)
	return *result == 'r';
#else
	(void)result;
	return false;
#endif
}

void signature_lay_out(const struct signature *signature, struct call_layout *ret)
{
	struct convention used = { has_hidden_argument(signature->text), 0, 0 };
	const char *at = signature->text;
	struct argument_text text;
	unsigned offset = 0;

	memset(ret, 0, sizeof(*ret));
	ret->result_bytes = (uint8_t)(*at == 'v' ? 0 : size_of(at));
	ret->is_result_pointed = *at == 'r';
	while (ret->count < SIGNATURE_ARGUMENTS && signature_next(&at, &text)) {
		struct argument_place *place = &ret->places[ret->count++];

		*place = place_of(&used, &text);
		offset = (offset + text.alignment - 1u) / text.alignment * text.alignment;
		place->offset = (uint16_t)offset;
		offset += text.size;
	}
	ret->has_vectors = used.vectors;
	ret->stack_words = (uint8_t)((used.stack + 1) & ~1u);
}
