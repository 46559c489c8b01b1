/** @file flags.h  Which flags MindSpeed's planner has beside those of Megatron, which of Megatron's
 * it does not heed, and what their other names are. */
#ifndef CALC_MINDSPEED_FLAGS_H
#define CALC_MINDSPEED_FLAGS_H

#include "formats/settings.h"

/** Give keys their usual spelling, drop those that say what the planner decides, and those of a
 *  script of which there is another on the command line (a setting without a line).
 *  @return false if memory is short */
CALC_MUST_USE bool calc_mindspeed_flags_order(calc_settings *settings);

/** The last setting of a key; NULL: there is none. */
const calc_setting *calc_mindspeed_flags_last(const calc_settings *settings, const char *key);

/** Whether a key is one of the planner's own, with an effect or none that anyone would expect. */
bool calc_mindspeed_flags_known(const char *key);

/** A flag of the planner's third generation, `--auto-settings`, which is another program; NULL. */
const calc_setting *calc_mindspeed_flags_later(const calc_settings *settings);

#endif
