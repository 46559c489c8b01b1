/** @file tools.h  The programs of `calc as`, one per file. */
#ifndef CALC_CLI_AS_TOOLS_H
#define CALC_CLI_AS_TOOLS_H

#include "cli/as/flags.h"

extern const calc_as_tool calc_as_taylor_nd, calc_as_taylor_rank, calc_as_taylor_balance;
extern const calc_as_tool calc_as_aiak;
extern const calc_as_tool calc_as_galvatron, calc_as_galvatron_paddle;
extern const calc_as_tool calc_as_mindspeed;

#endif
