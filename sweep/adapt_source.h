/** @file adapt_source.h  The source of a panel's lanes where they differ between cells: arrays like
 *  those of the panel. */
#ifndef CALC_SWEEP_ADAPT_SOURCE_H
#define CALC_SWEEP_ADAPT_SOURCE_H

#include "model/cost/block_memory.h"
#include "model/stages/stages.h"
#include "panel.h"

/** A block of a lane by rule. */
typedef struct calc_adapt_rule {
    calc_rule_part without;  /**< memory without the state that ranks share, */
    calc_block_memory state; /**< and of one that shares with nobody */
    double travel_bytes;     /**< to and from the second tier, backward, beside the state */
} calc_adapt_rule;

#define CALC_X(member) _Alignas(CALC_PANEL_ALIGN) double member[CALC_PANEL_LANES];

/** Blocks of a kind. */
typedef struct calc_adapt_block {
    CALC_STAGE_SOURCE_LIST(CALC_X)
} calc_adapt_block;

typedef struct calc_adapt_source {
    calc_adapt_block block[CALC_STAGE_KINDS];
    CALC_X(weight_away)     /* shares that are kept elsewhere */
    CALC_X(activation_away) /* */
    CALC_X(embedding_fw_s)  /* ends as in the panel, without what sharded weights expose; */
    CALC_X(embedding_agrad_s)
    CALC_X(head_fw_s)
    CALC_X(head_agrad_s)
    CALC_X(head_weights)        /* without what the embedding has; */
    CALC_X(embedding_pass_fw_s) /* passes on the processor, without the factor of the software */
    CALC_X(embedding_pass_bw_s)
    CALC_X(head_pass_fw_s)
    CALC_X(head_pass_bw_s)
    calc_adapt_rule rule[CALC_STAGE_KINDS][CALC_PANEL_LANES];
} calc_adapt_source;

#undef CALC_X

#endif
