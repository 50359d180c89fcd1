/*
 * The page of `limpet ui` and of `limpet record --ui`.
 */
#pragma once

#include "host/ui/ui.h"

struct ui_page_words {
	bool no_open, is_json;
};

/* Prints its address, opens a browser, and serves until Ctrl-C. */
int ui_page_run(const struct ui_options *options, const struct ui_page_words *words,
		struct err *err) MUST_CHECK;
