/*
 * All settings of AMD's rocprofv3, in one table: for options, keys of input files and variables.
 * Unsupported ones have a line too, with the reason.
 */
#pragma once

#include "profile.h"

/* The arguments of an option. */
enum setting_takes {
	TAKES_SWITCH,   /* true, false, or nothing: true */
	TAKES_ONE,      /* a text */
	TAKES_SOME,     /* one text or more */
	TAKES_WHATEVER, /* of a refused one: texts up to the next option */
};

struct setting;
typedef int setting_setter(struct profile *profile, const struct setting *setting,
			   const char *const *values, size_t count, struct err *err);

struct setting {
	char letter;         /* 0: none */
	const char *name;    /* "hip-trace"; a star at the end stands for anything */
	const char *further; /* another name of it, or NULL */
	enum setting_takes takes;
	setting_setter *set;
	const char *argument; /* its name in help; NULL: a switch */
	const char *help;     /* of a refused one: the reason */
	size_t offset;        /* in struct profile */
	uint32_t bits;
};

extern const struct setting settings[];
extern const size_t setting_count;

/* With dashes or underscores alike; NULL when there is none. */
const struct setting *setting_find(const char *name, size_t length);
const struct setting *setting_by_letter(char letter);
bool setting_is_refused(const struct setting *setting);

/* Makes a setting.  The texts must live as long as the profile. */
int setting_make(struct profile *profile, const struct setting *setting, const char *const *values,
		 size_t count, struct err *err) MUST_CHECK;

/* 1: yes, 0: no, -1: neither. */
int setting_truth(const char *word);
