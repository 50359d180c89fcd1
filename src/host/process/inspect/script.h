/*
 * The script, module or archive that an interpreter runs, from its command line.
 */
#pragma once

#include "host/process/inspect/process.h"

/* Its name without folders, in at most `room` bytes: "shop.py" of "python3 -u /srv/shop.py --port
 * 80". False where the program is no known interpreter, or has no script.  Command lines are
 * foreign, and cut after 255 bytes: a name may be the wrong one, and never more than one word of
 * the command. */
bool process_script(const struct process *process, char *ret, size_t room);
