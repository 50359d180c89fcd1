/*
 * The machines whose Go code is supported.
 */
#include "host/unwind/arch/go_code.h"

const struct go_machine *const go_machines[] = { &go_of_aarch64, &go_of_x86_64, NULL };
