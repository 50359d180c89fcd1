/*
 * Determines languages of frames, and writes their colours.
 */
#include "host/model/samples/frame_languages.h"

#include "host/model/samples/languages.h"

#include <stdio.h>
#include <string.h>

#define FILL(hue, saturation, lightness)   \
	{                                  \
		hue, saturation, lightness \
	}

const struct frame_style frame_styles[FRAME_LANGUAGES] = {
#define FRAME_LANGUAGE(symbol, name, title, light, dark, of_256, of_8, sort) \
	[FRAME_##symbol] = { name, title, FILL light, FILL dark, of_256, of_8 },
#include "host/model/samples/frame_languages.def"
#undef FRAME_LANGUAGE
};

/* Runtimes with another name than their language; unwind/engine.c has all of them. */
static const struct {
	const char *runtime;
	enum frame_language language;
} runtimes[] = {
	{ "node", FRAME_JAVASCRIPT },    { "V8", FRAME_JAVASCRIPT },
	{ "Firefox", FRAME_JAVASCRIPT }, { "SpiderMonkey", FRAME_JAVASCRIPT },
	{ "pypy", FRAME_PYTHON },        { "luajit", FRAME_LUA },
};

static bool is_text(const char *text, size_t length, const char *wanted)
{
	return strlen(wanted) == length && !memcmp(text, wanted, length);
}

/* FRAME_GENERATED: of none. */
static enum frame_language language_called(const char *name, size_t length)
{
	for (unsigned i = FRAME_PYTHON; i < FRAME_GENERATED; i++)
		if (is_text(name, length, frame_styles[i].name))
			return i;
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (is_text(name, length, runtimes[i].runtime))
			return runtimes[i].language;
	return FRAME_GENERATED;
}

/* "[python] /srv/shop.py", "[JIT of java]", "[JIT]", or a name from a perf map. */
static enum frame_language generated_language(const char *path)
{
	static const char made_by[] = "[JIT of ";
	const char *name = path + 1, *end = strchr(path, ']');

	if (path[0] != '[' || !end)
		return FRAME_GENERATED;
	if (!strncmp(path, made_by, strlen(made_by)))
		name = path + strlen(made_by);
	return language_called(name, (size_t)(end - name));
}

enum frame_language frame_language(enum code_kind kind, const char *path)
{
	static const enum frame_language of_kind[CODE_KINDS] = { [CODE_UNKNOWN] = FRAME_UNKNOWN,
								 [CODE_FILE] = FRAME_NATIVE,
								 [CODE_VDSO] = FRAME_NATIVE,
								 [CODE_KERNEL] = FRAME_KERNEL };

	if (kind == CODE_JIT)
		return generated_language(path);
	return strcmp(path, FRAME_TRACED_PATH) ? of_kind[kind] : FRAME_TRACED;
}

/* ui/src/core/colour.ts and flamegraph.html have the same function. */
unsigned frame_shade(const char *function)
{
	uint32_t hash = 7;

	for (; *function; function++)
		hash = hash * 31 + (unsigned char)*function;
	return hash % FRAME_SHADES;
}

struct frame_fill frame_fill_light(enum frame_language language, unsigned shade)
{
	struct frame_fill fill = frame_styles[language].light;

	fill.lightness += FRAME_SHADE_STEP * shade;
	return fill;
}

struct frame_fill frame_fill_dark(enum frame_language language, unsigned shade)
{
	struct frame_fill fill = frame_styles[language].dark;

	fill.lightness -= FRAME_SHADE_STEP * shade;
	return fill;
}

static void fills_write(struct json *json, const char *key, enum frame_language language,
			struct frame_fill (*fill_of)(enum frame_language language, unsigned shade))
{
	char text[48];

	json_list(json, key);
	for (unsigned shade = 0; shade < FRAME_SHADES; shade++) {
		struct frame_fill fill = fill_of(language, shade);

		snprintf(text, sizeof(text), "hsl(%u %u%% %u%%)", fill.hue, fill.saturation,
			 fill.lightness);
		json_text(json, NULL, text);
	}
	json_list_end(json);
}

void frame_languages_write(struct json *json, const char *key, unsigned present)
{
	json_list(json, key);
	for (unsigned i = 0; i < FRAME_LANGUAGES; i++) {
		if (!(present & 1u << i))
			continue;
		json_object(json, NULL);
		json_number(json, "number", i);
		json_text(json, "name", frame_styles[i].name);
		json_text(json, "title", frame_styles[i].title);
		fills_write(json, "light", i, frame_fill_light);
		fills_write(json, "dark", i, frame_fill_dark);
		json_object_end(json);
	}
	json_list_end(json);
}
