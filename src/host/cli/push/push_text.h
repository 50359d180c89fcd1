/*
 * The messages of limpet push, for people or as JSON.
 */
#pragma once

#include "host/push/pusher.h"
#include "host/push/sender.h"

struct push_text {
	bool is_json;
	int trouble; /* last one reported; 0: none */
	uint64_t refused;
};

struct push_result {
	struct pusher_totals collected;
	struct sender_totals sent;
};

void push_text_begun(const struct push_text *text, const struct push_address *address,
		     const struct sampling_options *sampling, const struct source_facts *facts);
/* When the server is away, or is back. */
void push_text_trouble(struct push_text *text, const struct sender_totals *totals);
void push_text_end(const struct push_text *text, const struct push_result *result);
/* An error where something is missing. */
int push_result_judge(const struct push_result *result, struct err *err) MUST_CHECK;
