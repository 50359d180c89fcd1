/*
 * Finds user names in the text of /etc/passwd.
 */
#include "host/core/users.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/core/text/text.h"

#define PASSWD_MAX_BYTES ((size_t)16 << 20)

void users_init(struct users *ret)
{
	*ret = (struct users){ 0 };
	if (text_read_file("/etc/passwd", PASSWD_MAX_BYTES, &ret->text, &ret->size) < 0)
		*ret = (struct users){ 0 };
}

void users_done(struct users *users)
{
	free(users->text);
	*users = (struct users){ 0 };
}

void users_name(const struct users *users, uid_t uid, char *buffer, size_t capacity)
{
	struct text rest = { users->text, users->text + users->size }, line, name, password;
	uint64_t number;

	snprintf(buffer, capacity, "%u", uid);
	while (users->text && text_take_line(&rest, &line))
		/* "name:x:1000:..." */
		if (text_take_field(&line, ':', &name) && text_take_field(&line, ':', &password) &&
		    text_take_number(&line, 10, &number) && text_take_char(&line, ':') &&
		    number == uid) {
			text_copy(name, buffer, capacity);
			return;
		}
}
