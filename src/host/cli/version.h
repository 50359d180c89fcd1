/*
 * The version, given by the build.
 */
#pragma once

#ifndef LIMPET_VERSION
#define LIMPET_VERSION "0.0 (unversioned build)"
#endif
