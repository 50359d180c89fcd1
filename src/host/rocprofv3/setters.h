/*
 * What a setting is, and the ways in which its values become part of a profile.
 */
#pragma once

#include "host/rocprofv3/profile.h"

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

setting_setter set_switch;   /* bool */
setting_setter set_domains;  /* adds or removes bits */
setting_setter set_text;     /* const char * */
setting_setter set_list;     /* struct profile_list */
setting_setter set_counters; /* likewise, with commas and blanks; each time is a pass */
setting_setter set_formats;  /* of files */
setting_setter set_ranges;   /* of iterations: several become one text */
setting_setter set_index;    /* of agents */
setting_setter set_unit;     /* of the summary */
setting_setter set_level;    /* of messages */
setting_setter set_always;   /* it is so in any case */
setting_setter set_refused;  /* unless its value requests nothing */

/* 1: yes, 0: no, -1: neither. */
int setting_truth(const char *word);
