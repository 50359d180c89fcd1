/*
 * Protocol buffers, the little that is needed to write them.
 */
#pragma once

#include "host/core/bytes.h"

void proto_number(struct bytes *message, unsigned field, uint64_t value);
/* In eight bytes, for random values. */
void proto_fixed(struct bytes *message, unsigned field, uint64_t value);
/* Invalid UTF-8 gets the replacement character. */
void proto_text(struct bytes *message, unsigned field, const char *text);
/* A message in a message; the inner one is emptied. */
void proto_message(struct bytes *message, unsigned field, struct bytes *inner);
