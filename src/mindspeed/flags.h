/** @file flags.h  Flags of MindSpeed's planner: those it adds to Megatron's, those of Megatron's
 *  that it ignores, and aliases. */
#ifndef CALC_MINDSPEED_FLAGS_H
#define CALC_MINDSPEED_FLAGS_H

#include "formats/settings.h"

/** Changes keys to their usual spelling. Drops settings that the planner decides, and settings of a
 *  script that the command line repeats (a setting without a line).
 *  @return false if out of memory */
CALC_MUST_USE bool calc_mindspeed_flags_order(calc_settings *settings);

/** The last setting of a key; NULL: there is none. */
const calc_setting *calc_mindspeed_flags_last(const calc_settings *settings, const char *key);

/** Whether a key is one of the planner's own flags, with an effect or with none to be expected. */
bool calc_mindspeed_flags_known(const char *key);

/** A flag of the planner's third generation, `--auto-settings`, which is another program; NULL if
 *  there is none. */
const calc_setting *calc_mindspeed_flags_later(const calc_settings *settings);

#endif
