/** @file refusal_rules.h  Rules by which frameworks built on Megatron Core refuse layouts, one list
 *  per source. */
#ifndef CALC_FORMATS_REFUSAL_RULES_H
#define CALC_FORMATS_REFUSAL_RULES_H

#include "formats/framework.h"
#include "spec/refusals.h"

/** Rules of Megatron Core for every framework built on it, except FSDP, which has its own lists. */
calc_refusals calc_refusals_core;
/** Whether stages hold equally many blocks, or are listed if they do not. */
calc_refusals calc_refusals_even, calc_refusals_listed;
calc_refusals calc_refusals_fsdp, calc_refusals_fsdp_0_15;
/** Layers that differ, of core_v0.19.0; as letters, of Megatron-Bridge. */
calc_refusals calc_refusals_layers, calc_refusals_letters;
calc_refusals calc_refusals_batch_overlap, calc_refusals_graphs, calc_refusals_flex;
calc_refusals calc_refusals_mindspeed, calc_refusals_nemo;

#endif
