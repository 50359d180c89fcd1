/*
 * Sessions that trace nothing: the agent notices when the program is about to change its rights,
 * and detaches before.  A session without that goes on, with a note of the reason.
 */
#pragma once

#include "host/session/session.h"

/* session->unnoticed has the reason if it fails. */
void notice_open(struct session *session);
