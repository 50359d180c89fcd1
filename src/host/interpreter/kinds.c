/*
 * The languages whose functions are seen, beside Python; the first one that a process has is taken.
 */
#include "host/interpreter/kind.h"

const struct interpreter_kind *const interpreter_kinds[] = {
	&interpreter_ruby, &interpreter_php,    &interpreter_perl,
	&interpreter_lua,  &interpreter_luajit, NULL,
};
