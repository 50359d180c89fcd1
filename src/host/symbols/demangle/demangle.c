/*
 * Calls the demangler of gcc's C++ library, which needs nothing else of that library.  Names come
 * from targets: a short one can expand to gigabytes, so a jump leaves the demangler as soon as
 * there is no more room.  It keeps everything on the stack; the jump leaks nothing.
 */
#include "host/symbols/demangle/demangle.h"

#include "host/symbols/demangle/rust.h"

#include <setjmp.h>
#include <string.h>

#define NAME_MAX_BYTES 8192u
#define DESCRIPTOR     ".kd"

#ifdef HAS_DEMANGLER
typedef void demangler_sink(const char *text, size_t size, void *context);
int __gcclibcxx_demangle_callback(const char *name, demangler_sink *sink, void *context);

struct demangled {
	jmp_buf enough;
	char *text;
	size_t size, room;
};

static void demangle_append(const char *text, size_t size, void *context)
{
	struct demangled *self = context;

	if (size >= self->room - self->size)
		longjmp(self->enough, 1);
	memcpy(self->text + self->size, text, size);
	self->size += size;
	self->text[self->size] = '\0';
}

static bool demangle_cxx(const char *name, char *ret, size_t room)
{
	struct demangled self = { .text = ret, .room = room };

	if (setjmp(self.enough))
		return false;
	return __gcclibcxx_demangle_callback(name, demangle_append, &self) == 0;
}
#else
static bool demangle_cxx(const char *name, char *ret, size_t room)
{
	(void)name;
	(void)ret;
	(void)room;
	return false;
}
#endif

bool demangle(const char *name, char *ret, size_t room)
{
	size_t length = strnlen(name, NAME_MAX_BYTES), end = strlen(DESCRIPTOR);
	char plain[NAME_MAX_BYTES];

	ret[0] = '\0';
	if (length == NAME_MAX_BYTES)
		return false;
	if (strncmp(name, "_R", 2) == 0)
		return rust_v0_demangle(name, ret, room);
	/* Others than functions and objects are types, which "i" would be, too. */
	if (strncmp(name, "_Z", 2))
		return false;
	memcpy(plain, name, length + 1);
	if (length > end && strcmp(plain + length - end, DESCRIPTOR) == 0)
		plain[length - end] = '\0';
	rust_cut_suffix(plain);
	if (demangle_cxx(plain, ret, room)) {
		rust_tidy(ret);
		return true;
	}
	ret[0] = '\0';
	return false;
}

/* From the end of a text backwards: skips text in brackets. */
static const char *before_brackets(const char *begin, const char *end)
{
	unsigned depth = 0;

	for (; end > begin; end--) {
		char last = end[-1];

		if (strchr(")>]", last))
			depth++;
		else if (strchr("(<[", last))
			depth -= depth > 0;
		else if (!depth && last != ' ')
			break;
	}
	return end;
}

void demangled_base(const char *readable, char *ret, size_t room)
{
	const char *end = before_brackets(readable, readable + strlen(readable)), *begin = end;
	size_t length;

	while (begin > readable && begin[-1] != ' ' && begin[-1] != ':')
		begin--;
	length = (size_t)(end - begin) < room - 1 ? (size_t)(end - begin) : room - 1;
	memcpy(ret, begin, length);
	ret[length] = '\0';
}
