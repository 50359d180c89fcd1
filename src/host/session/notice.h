/*
 * Sessions that trace nothing: the agent notices when the program is about to change what it may
 * do, and leaves before.  A session without that goes on, and says why.
 */
#pragma once

#include "host/session/session.h"

/* session->unnoticed says why it could not be. */
void notice_open(struct session *session);
