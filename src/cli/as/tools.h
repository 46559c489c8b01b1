/** @file tools.h  The programs that `calc as` has, one per file. */
#ifndef CALC_CLI_AS_TOOLS_H
#define CALC_CLI_AS_TOOLS_H

#include "cli/as/flags.h"

extern const calc_as_tool calc_as_taylor_nd;

#endif
