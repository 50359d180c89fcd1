/*
 * The calls that limpet watches for itself, with their handlers.
 */
#pragma once

/* Called once, before a table comes. */
void watches_start(void);
