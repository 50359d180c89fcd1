/*
 * The table of colours: text on every fill can be read, fills can be told apart also by people who
 * lack one receptor of the eye, and a legend lists exactly the languages that are present.
 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/model/samples/frame_languages.h"

/* WCAG 2.1, 1.4.3. */
#define CONTRAST_LEAST 4.5
/* Distances in CIE L*a*b*.  Native code, the kernel and unknown code stand beside every language;
 * two others rarely beside each other. */
#define DISTANCE_EVERYWHERE 12.0
#define DISTANCE_OTHERWISE  6.5

struct rgb {
	double part[3];
};

typedef struct frame_fill fill_function(enum frame_language language, unsigned shade);

static double hue_part(const struct frame_fill *fill, unsigned from)
{
	double lightness = fill->lightness / 100.0, saturation = fill->saturation / 100.0;
	double at = fmod(from + fill->hue / 30.0, 12);
	double most = saturation * fmin(lightness, 1 - lightness);

	return lightness - most * fmax(-1, fmin(fmin(at - 3, 9 - at), 1));
}

static double linear(double part)
{
	return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
}

static struct rgb rgb_of_fill(struct frame_fill fill)
{
	return (struct rgb){ { linear(hue_part(&fill, 0)), linear(hue_part(&fill, 8)),
			       linear(hue_part(&fill, 4)) } };
}

static struct rgb rgb_of_text(const char *text)
{
	unsigned long value = strtoul(text + 1, NULL, 16);

	return (struct rgb){ { linear((double)(value >> 16) / 255),
			       linear((double)(value >> 8 & 255) / 255),
			       linear((double)(value & 255) / 255) } };
}

static double luminance(struct rgb colour)
{
	return 0.2126 * colour.part[0] + 0.7152 * colour.part[1] + 0.0722 * colour.part[2];
}

static double contrast(struct rgb a, struct rgb b)
{
	double first = luminance(a) + 0.05, second = luminance(b) + 0.05;

	return fmax(first, second) / fmin(first, second);
}

static void contrast_must(fill_function *fill_of, const char *ink)
{
	for (unsigned i = 0; i < FRAME_LANGUAGES; i++)
		for (unsigned shade = 0; shade < FRAME_SHADES; shade++)
			if (contrast(rgb_of_fill(fill_of(i, shade)), rgb_of_text(ink)) <
			    CONTRAST_LEAST)
				fail_msg("%s %u: names cannot be read", frame_styles[i].name,
					 shade);
}

static void names_can_be_read_on_every_fill(void **state)
{
	(void)state;
	contrast_must(frame_fill_light, FRAME_INK_LIGHT);
	contrast_must(frame_fill_dark, FRAME_INK_DARK);
}

/* Machado, Oliveira and Fernandes 2009, severity 1: all receptors, no L, no M, no S. */
static const double eyes[][3][3] = {
	{ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
	{ { 0.152286, 1.052583, -0.204868 },
	  { 0.114503, 0.786281, 0.099216 },
	  { -0.003882, -0.048116, 1.051998 } },
	{ { 0.367322, 0.860646, -0.227968 },
	  { 0.280085, 0.672501, 0.047413 },
	  { -0.011820, 0.042940, 0.968881 } },
	{ { 1.255528, -0.076749, -0.178779 },
	  { -0.078411, 0.930809, 0.147602 },
	  { 0.004733, 0.691367, 0.303900 } },
};

static double weigh(const double weights[3], const double values[3])
{
	return weights[0] * values[0] + weights[1] * values[1] + weights[2] * values[2];
}

static double lab_part(double value)
{
	return value > 0.008856 ? cbrt(value) : 7.787 * value + 16.0 / 116;
}

static void lab_of(struct rgb colour, const double eye[3][3], double ret[3])
{
	static const double xyz[3][3] = { { 0.4339, 0.3762, 0.1899 },
					  { 0.2126, 0.7152, 0.0722 },
					  { 0.0177, 0.1095, 0.8728 } };
	double seen[3], part[3];

	for (unsigned i = 0; i < 3; i++)
		seen[i] = fmax(0, fmin(1, weigh(eye[i], colour.part)));
	for (unsigned i = 0; i < 3; i++)
		part[i] = lab_part(weigh(xyz[i], seen));
	ret[0] = 116 * part[1] - 16;
	ret[1] = 500 * (part[0] - part[1]);
	ret[2] = 200 * (part[1] - part[2]);
}

static double distance(struct frame_fill a, struct frame_fill b, const double eye[3][3])
{
	double first[3], second[3];

	lab_of(rgb_of_fill(a), eye, first);
	lab_of(rgb_of_fill(b), eye, second);
	return sqrt(pow(first[0] - second[0], 2) + pow(first[1] - second[1], 2) +
		    pow(first[2] - second[2], 2));
}

static bool is_everywhere(unsigned language)
{
	return language == FRAME_NATIVE || language == FRAME_KERNEL || language == FRAME_UNKNOWN;
}

static void pair_must(fill_function *fill_of, unsigned a, unsigned b)
{
	double least =
		is_everywhere(a) || is_everywhere(b) ? DISTANCE_EVERYWHERE : DISTANCE_OTHERWISE;

	for (size_t eye = 0; eye < ARRAY_SIZE(eyes); eye++)
		for (unsigned i = 0; i < FRAME_SHADES * FRAME_SHADES; i++) {
			double found = distance(fill_of(a, i % FRAME_SHADES),
						fill_of(b, i / FRAME_SHADES), eyes[eye]);

			if (found < least)
				fail_msg("%s and %s look alike to eye %zu: %.1f",
					 frame_styles[a].name, frame_styles[b].name, eye, found);
		}
}

static void languages_can_be_told_apart_by_every_eye(void **state)
{
	(void)state;
	for (unsigned a = 0; a < FRAME_LANGUAGES; a++)
		for (unsigned b = 0; b < a; b++) {
			pair_must(frame_fill_light, a, b);
			pair_must(frame_fill_dark, a, b);
		}
}

static void languages_are_found_by_paths_of_code(void **state)
{
	static const struct {
		enum code_kind kind;
		const char *path;
		enum frame_language language;
	} codes[] = {
		{ CODE_FILE, "/usr/bin/python3.11", FRAME_NATIVE },
		{ CODE_FILE, "[python] hostile name of a file", FRAME_NATIVE },
		{ CODE_VDSO, "[vdso]", FRAME_NATIVE },
		{ CODE_KERNEL, "[kernel]", FRAME_KERNEL },
		{ CODE_UNKNOWN, "[unknown]", FRAME_UNKNOWN },
		{ CODE_UNKNOWN, FRAME_TRACED_PATH, FRAME_TRACED },
		{ CODE_JIT, "[python] /srv/shop.py", FRAME_PYTHON },
		{ CODE_JIT, "[python]", FRAME_PYTHON },
		{ CODE_JIT, "[perl] x", FRAME_PERL },
		{ CODE_JIT, "[JIT of java]", FRAME_JAVA },
		{ CODE_JIT, "[JIT of node]", FRAME_JAVASCRIPT },
		{ CODE_JIT, "[JIT of V8]", FRAME_JAVASCRIPT },
		{ CODE_JIT, "[JIT of luajit]", FRAME_LUA },
		{ CODE_JIT, "[JIT of pypy]", FRAME_PYTHON },
		{ CODE_JIT, "[JIT of erlang]", FRAME_GENERATED },
		{ CODE_JIT, "[JIT]", FRAME_GENERATED },
		{ CODE_JIT, "[native]", FRAME_GENERATED },
		{ CODE_JIT, "", FRAME_GENERATED },
		{ CODE_JIT, "[", FRAME_GENERATED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		assert_int_equal(frame_language(codes[i].kind, codes[i].path), codes[i].language);
}

static char *written(unsigned present)
{
	char *text = NULL;
	size_t size = 0;
	struct json json = { .out = open_memstream(&text, &size) };

	assert_non_null(json.out);
	json_object(&json, NULL);
	frame_languages_write(&json, "languages", present);
	json_object_end(&json);
	assert_int_equal(fclose(json.out), 0);
	return text;
}

static void a_legend_lists_exactly_the_languages_that_are_present(void **state)
{
	char *none = written(0), *one = written(1u << FRAME_PYTHON);
	char quoted[32];

	(void)state;
	assert_string_equal(none, "{\"languages\":[]}\n");
	assert_string_equal(
		one,
		"{\"languages\":[{\"number\":2,\"name\":\"python\",\"title\":\"Python\","
		"\"light\":[\"hsl(200 81% 58%)\",\"hsl(200 81% 60%)\",\"hsl(200 81% 62%)\"],"
		"\"dark\":[\"hsl(219 66% 43%)\",\"hsl(219 66% 41%)\",\"hsl(219 66% 39%)\"]}]}\n");
	free(none);
	free(one);
	for (unsigned present = 1; present < 1u << FRAME_LANGUAGES; present += 37) {
		char *text = written(present);

		for (unsigned i = 0; i < FRAME_LANGUAGES; i++) {
			snprintf(quoted, sizeof(quoted), "\"name\":\"%s\"", frame_styles[i].name);
			assert_int_equal(strstr(text, quoted) != NULL, present >> i & 1);
		}
		free(text);
	}
}

static void a_function_has_one_shade(void **state)
{
	(void)state;
	assert_int_equal(frame_shade("main"), frame_shade("main"));
	/* As in the page: 7 * 31 + 'a'. */
	assert_int_equal(frame_shade("a"), (7 * 31 + 'a') % FRAME_SHADES);
	for (const char *name = "abcdefgh"; *name; name++)
		assert_true(frame_shade(name) < FRAME_SHADES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_can_be_read_on_every_fill),
		cmocka_unit_test(languages_can_be_told_apart_by_every_eye),
		cmocka_unit_test(languages_are_found_by_paths_of_code),
		cmocka_unit_test(a_legend_lists_exactly_the_languages_that_are_present),
		cmocka_unit_test(a_function_has_one_shade),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
