/*
 * The ways in which a setting becomes part of a profile.
 */
#pragma once

#include "settings.h"

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
