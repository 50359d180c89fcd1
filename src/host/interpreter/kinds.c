/*
 * The languages with visible functions, besides Python; the first one found in a process is used.
 */
#include "host/interpreter/kind.h"

const struct interpreter_kind *const interpreter_kinds[] = {
	&interpreter_ruby, &interpreter_php,    &interpreter_perl,
	&interpreter_lua,  &interpreter_luajit, NULL,
};
