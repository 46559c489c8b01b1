/** @file rule_part.h  Terms of a block for Calculon's rules, in addition to calc_stage_part:
 * offload, overlap of gradients, optimizer and memory, block by block. All of it is 0 without
 * them. */
#ifndef CALC_MODEL_RULE_PART_H
#define CALC_MODEL_RULE_PART_H

#include "calc.h"

/** Need of a memory tier as a line over the micro-batches in flight, for each block [bytes]. */
typedef struct calc_rule_line {
    double block_bytes, flight_bytes;
} calc_rule_line;

/** One block of a kind, one micro-batch. */
typedef struct calc_rule_part {
    double edge_fw_s, edge_bw_s; /**< by how much longer the last block of a chunk takes */
    double fw_mem_s, bw_mem_s;   /**< memory time that offload cannot hide behind */
    double fw_away_s, bw_away_s; /**< to or from the second memory tier */
    double busy_s;               /**< memory time that gradients cannot hide behind */
    double compute_s;            /**< backward arithmetic that gradients slow down, with that of
                                      the optimizer where it runs block by block */
    double link_s, edge_link_s;  /**< tensor-parallel communication backward */
    double optimizer_s;          /**< step of the block */
    double optimizer_window_s;   /**< the part of it that can hide gradients; 0 if sharded */
    calc_rule_line tier1, tier2; /**< optimizer_sharding and offload included */
    double fixed_bytes, fixed_away_bytes; /**< the same, once on a stage */
} calc_rule_part;

#endif
