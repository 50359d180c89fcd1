/*
 * Lists that grow by doubling.
 */
#pragma once

#include "shared/base/macros.h"

/* Room for one more item of that size behind `count`; `list` is the address of the pointer.  0 or
 * -ENOMEM, and then the list is as it was. */
int make_room(void *list, size_t count, size_t *room, size_t size) MUST_CHECK;

/* Adds a copy of the item, of that size, behind the others.  0 or -ENOMEM. */
int append_item(void *list, size_t *count, size_t *room, const void *item, size_t size) MUST_CHECK;

/* Room for one more at this index: the items from there on move up by one, and the list has one
 * more. */
int insert_room(void *list, size_t *count, size_t *room, size_t size, size_t index) MUST_CHECK;

/* Removes the item at this index: those behind it move down by one. */
void remove_item(void *items, size_t *count, size_t size, size_t index);
