/*
 * Parses "36 35 98:0 /root /point options [tags ...] - type source options".
 */
#include "host/process/mountinfo.h"

static bool mount_parse(struct text line, struct mount *ret)
{
	struct text word;

	*ret = (struct mount){ 0 };
	if (!text_take_word(&line, &word) || !text_take_number(&word, 10, &ret->number) ||
	    !text_take_word(&line, &word) || !text_take_word(&line, &word) ||
	    !text_take_number(&word, 10, &ret->major) || !text_take_char(&word, ':') ||
	    !text_take_number(&word, 10, &ret->minor))
		return false;
	(void)(text_take_word(&line, &ret->root) && text_take_word(&line, &ret->point));
	while (text_take_word(&line, &word) && !text_equals(word, "-"))
		;
	if (text_take_word(&line, &ret->type))
		while (text_take_word(&line, &word))
			ret->options = word;
	return true;
}

bool mountinfo_next(struct text *rest, struct mount *ret)
{
	struct text line;

	while (text_take_line(rest, &line))
		if (mount_parse(line, ret))
			return true;
	return false;
}

bool mount_find_option(const struct mount *mount, const char *key, struct text *ret_value)
{
	struct text options = mount->options;

	while (options.at && text_take_field(&options, ',', ret_value))
		if (text_take_prefix(ret_value, key))
			return true;
	return false;
}
