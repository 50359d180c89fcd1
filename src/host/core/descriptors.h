/*
 * How many descriptors we may have.
 */
#pragma once

/* As many as we may allow ourselves. */
void descriptors_raise_limit(void);
