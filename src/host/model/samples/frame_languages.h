/*
 * The language that a frame is drawn as, and the colours of each (frame_languages.def).  Compiled
 * languages have no marks in a process: C, C++, Rust and Go are one, native code.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/symbols/symbolizer.h"

#include <stdint.h>

/* The colour of text on fills, on light and on dark backgrounds. */
#define FRAME_INK_LIGHT "#16202c"
#define FRAME_INK_DARK  "#f2f4f7"

/* Functions of a language differ a little: on a light background later shades are lighter, on a
 * dark one darker. */
#define FRAME_SHADES     3u
#define FRAME_SHADE_STEP 2u

/* The path of a code that stands for traced calls and the work of devices. */
#define FRAME_TRACED_PATH "[traced]"

enum frame_language {
#define FRAME_LANGUAGE(symbol, ...) FRAME_##symbol,
#include "host/model/samples/frame_languages.def"
#undef FRAME_LANGUAGE
	FRAME_LANGUAGES,
};

/* As in CSS: hue in degrees, the others in percent. */
struct frame_fill {
	unsigned hue, saturation, lightness;
};

struct frame_style {
	const char *name, *title;
	struct frame_fill light, dark;
	short of_256, of_8; /* of a terminal with so many colours */
};

extern const struct frame_style frame_styles[FRAME_LANGUAGES];

/* Of a frame in that code (struct sample_code). */
enum frame_language frame_language(enum code_kind kind, const char *path);

/* 0 to FRAME_SHADES - 1; for a function the same in all pictures. */
unsigned frame_shade(const char *function);
struct frame_fill frame_fill_light(enum frame_language language, unsigned shade);
struct frame_fill frame_fill_dark(enum frame_language language, unsigned shade);

/* A list of objects for the languages of a bit set: number, name, title, and the shades on a light
 * and on a dark background as CSS colours. */
void frame_languages_write(struct json *json, const char *key, unsigned present);
