/*
 * The invoking user, and a browser for that user.
 */
#include "host/ui/browser.h"

#include "host/core/text.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static bool number_get(const char *variable, uint64_t *ret)
{
	const char *text = secure_getenv(variable);

	return text && !text_parse_number(text, INT32_MAX, ret);
}

void invoker_find(uid_t *ret_user, gid_t *ret_group)
{
	uint64_t user, group;

	*ret_user = geteuid();
	*ret_group = getegid();
	if (*ret_user == 0 && number_get("SUDO_UID", &user) && number_get("SUDO_GID", &group)) {
		*ret_user = (uid_t)user;
		*ret_group = (gid_t)group;
	}
}
