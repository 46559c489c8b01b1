/* The table of parts: which rows there are, and that each has the terms of its layout. */
#include "model/stages/stage_parts.h"
#include "rows.h"

#include "frame.h"
#include "small_case.h"
#include "spec/absent.h"

static calc_space space;
static calc_app app;
static calc_system sys;
static calc_rows rows;
static calc_exec base;
static calc_compat compat;

static void begin(void)
{
    app = small_app();
    sys = small_system();
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &base);
    base.strategy.tensor_par = 2;
    base.microbatch_size = 1;
    base.strategy.datatype = CALC_DATATYPE_FLOAT16;
    base.training = true;
    base.strategy.flash_attention = true;
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
}

static void end(void)
{
    calc_rows_free(&rows);
    calc_space_free(&space);
}

static void set(calc_axis axis, int64_t a, int64_t b)
{
    const int64_t value[] = {a, b};
    ck_assert_int_eq(calc_space_set(&space, axis, value, 2), CALC_OK);
}

static size_t filled(bool profile)
{
    ck_assert_int_eq(calc_rows_fill(&rows, &space, &app, &sys, &base, compat, profile), CALC_OK);
    ck_assert(!profile || calc_rows_terms(&rows) == CALC_OK);
    return rows.count;
}

CALC_TEST(rows_are_the_legal_combinations)
{
    begin();
    /* Recomputation none and full, as flash attention has nothing to spare; ar, p2p_rs_ag, rs_ag,
     * of which the last may gather again unless everything is recomputed or it comes in tiles;
     * 5 overlaps, 2 of them in tiles; 2 networks. */
    ck_assert_uint_eq(filled(false), (4 * 3 + 3 * 2 + 3 * 5) * 2);
    base.strategy.tensor_par = 1;
    ck_assert_uint_eq(filled(false), 2); /* nothing to send or to overlap, no network */
    set(CALC_AXIS_seq_par_ag_redo, true, true);
    ck_assert_uint_eq(filled(false), 1); /* only rs_ag has that, and not with recomputation */
    ck_assert_int_eq(rows.row[0].exec.strategy.tensor_par_comm_type,
                     CALC_TENSOR_PAR_COMM_TYPE_RS_AG);
    set(CALC_AXIS_seq_par_ag_redo, false, true);
    compat = CALC_COMPAT_REPAIRED; /* Calculon's search has them all, and attention alone */
    ck_assert_uint_eq(filled(false), 4 + 3);
    compat = CALC_COMPAT_NONE;
    base.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    base.strategy.tensor_par = 2;
    ck_assert_uint_eq(filled(false), 4 * 3 + 3 * 2 + 3 * 5);
    base.training = false;
    ck_assert_uint_eq(filled(false), 4 * 3 + 3 * 2);
    end();
}

CALC_TEST(modules_go_with_a_list_of_them)
{
    begin();
    set(CALC_AXIS_activation_recompute, CALC_ACTIVATION_RECOMPUTE_NONE,
        CALC_ACTIVATION_RECOMPUTE_MODULES);
    filled(false);
    for (size_t i = 0; i < rows.count; i++) {
        ck_assert_int_eq(rows.row[i].exec.strategy.activation_recompute,
                         CALC_ACTIVATION_RECOMPUTE_NONE);
    }
    base.strategy.recompute_modules = 1;
    ck_assert_uint_gt(filled(false), 0);
    for (size_t i = 0; i < rows.count; i++) {
        ck_assert_int_eq(rows.row[i].exec.strategy.activation_recompute,
                         CALC_ACTIVATION_RECOMPUTE_MODULES);
    }
    end();
}

CALC_TEST(experts_on_the_network_of_data_parallelism_have_rows_for_each)
{
    begin();
    app.num_experts = 4;
    app.experts_per_token = 1;
    size_t alone = filled(false);
    ck_assert_int_eq(rows.row[0].data_network, -1);
    base.strategy.expert_par = 2;
    size_t without = filled(false); /* rs_ag only, as tensor_par is 2 */
    ck_assert_uint_lt(without, 2 * alone);
    ck_assert_int_eq(rows.row[0].data_network, 0);
    ck_assert_int_eq(rows.row[1].data_network, 1);
    ck_assert_int_eq(rows.row[1].exec.strategy.data_par_net, 1);
    base.strategy.expert_par_net = 1;
    ck_assert_uint_eq(2 * filled(false), without);
    ck_assert_int_eq(rows.row[0].data_network, -1);
    end();
}

CALC_TEST(states_are_those_of_the_space_and_one_for_single_replicas)
{
    begin();
    sys.chip.mem2.capacity_bytes = 0;
    filled(false);
    ck_assert_uint_eq(rows.choices, 2);
    set(CALC_AXIS_zero_stage, 0, 3);
    filled(false);
    ck_assert_uint_eq(rows.choices, 3); /* stage 3 says nothing of the optimizer */
    const calc_row_choice *c = rows.choice;
    ck_assert(!c[0].sharding && c[0].zero == 0 && !c[0].alone);
    space.axis[CALC_AXIS_optimizer_sharding].last = true;
    filled(false);
    ck_assert_uint_eq(rows.choices, 3);
    ck_assert(c[0].alone && !c[0].sharding && c[0].zero == 0);
    ck_assert(!c[1].alone && c[1].sharding && c[2].sharding && c[2].zero == 3);
    set(CALC_AXIS_zero_stage, 1, 3);
    filled(false);
    ck_assert(!c[0].alone);
    ck_assert_uint_eq(rows.choices, 2);
    end();
}

/* Weights, activations and optimizer state; no checkpoints, unless asked for. */
CALC_TEST(choices_say_what_is_offloaded)
{
    begin();
    filled(false);
    ck_assert_uint_eq(rows.choices, 2 * 8);
    ck_assert_uint_eq(rows.resident, 2 * 4);
    for (size_t i = 0; i < rows.choices; i++) {
        calc_exec e = base;
        calc_row_choice_put(&rows.choice[i], &e.strategy);
        ck_assert(e.strategy.activations_offload == (i >= 8));
        ck_assert(e.strategy.optimizer_sharding == (i / 4 % 2 > 0));
        ck_assert(e.strategy.weight_offload == (i / 2 % 2 > 0) &&
                  e.strategy.optimizer_offload == (i % 2 > 0));
    }
    for (size_t i = 0; i < rows.count; i++) {
        bool full =
            rows.row[i].exec.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
        ck_assert_uint_eq(rows.row[i].choices, full ? rows.resident : rows.choices);
    }
    set(CALC_AXIS_activations_offload, false, true);
    filled(false);
    ck_assert_uint_eq(rows.resident, rows.choices);
    sys.chip.mem2.capacity_bytes = 0;
    filled(false);
    ck_assert_uint_eq(rows.choices, 2 * 2);
    base.training = false;
    set(CALC_AXIS_optimizer_offload, false, true);
    filled(false);
    ck_assert_uint_eq(rows.choices, 2 * 2);
    end();
}

CALC_TEST(terms_are_those_of_the_layout)
{
    begin();
    filled(true);
    const calc_row *row = &rows.row[0];
    ck_assert_ptr_eq(row->context.shape, &rows.shape_of[row->spread]);
    ck_assert_ptr_eq(row->context.strategy, &row->exec.strategy);
    for (size_t s = 0; s < rows.choices; s++) {
        calc_exec e = row->exec;
        calc_row_choice_put(&rows.choice[s], &e.strategy);
        e.num_procs = 16;
        e.pipeline_par = 2;
        e.strategy.data_par = 4;
        e.batch_size = 32;
        e.pipeline_interleaving = 1;
        e.pipeline_par_net = 1;
        e.strategy.data_par_net = 1;
        calc_shape shape = calc_shape_of(&app, &e.strategy, e.microbatch_size, e.seq_size);
        calc_cost_context context = calc_cost_context_of(&sys, &e, &shape, compat);
        calc_stage_lines lines = calc_stage_lines_of(&sys, &e, &e.strategy, &context.groups,
                                                     calc_stage_message_bytes(&shape));
        calc_stage_parts parts;
        calc_stage_terms want = {0};
        calc_stage_terms got = rows.terms[row->terms + s];
        calc_stage_parts_of(&context, &parts);
        calc_stage_links want_links;
        calc_stage_terms_of(&context, &e, &parts, &lines, &want, &want_links);
        calc_stage_terms_cell(&row->context, &e, &row->parts, &lines, NULL, &got);
        calc_stage_links links =
            calc_stage_links_of(&row->context, &e, row->parts.message_bytes, &lines);
        ck_assert(got.block[0].fw_s == want.block[0].fw_s && want.block[0].fw_s > 0);
        ck_assert(got.away == (s % 4 > 0 || s >= 8) && got.away == want.away);
        ck_assert(got.held_bytes == want.held_bytes);
        ck_assert(got.owned_bytes == want.owned_bytes && got.dense_shards == want.dense_shards);
        ck_assert(links.reduce_dense_s_per_byte == want_links.reduce_dense_s_per_byte);
        ck_assert(links.message_s == want_links.message_s && links.message_s > 0);
    }
    end();
}

/* Whatever was timed before: the times of kernels go from table to table only where they are
 * theirs. */
CALC_TEST(rows_are_the_same_after_any_others)
{
    begin();
    for (int i = 0; i < 64; i++) {
        calc_rows fresh = {0};
        base.strategy.tensor_par = 1 + i % 2;
        base.strategy.attention_kernel =
            i / 2 % 2 ? CALC_ATTENTION_KERNEL_GENERIC : CALC_ATTENTION_KERNEL_VENDOR;
        base.strategy.matrix_datatype = i / 4 % 2 ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO;
        base.strategy.flash_attention = i / 8 % 2;
        base.training = i / 16 % 2;
        app.attn_size = i / 32 % 2 ? 20 : 0; /* rows of no whole 16 bytes */
        if (i == 40) {                       /* another system where the one before was */
            sys.chip.mem1.bytes_per_s *= 2;
            rows.timings = 0;
        }
        filled(true);
        ck_assert_int_eq(calc_rows_fill(&fresh, &space, &app, &sys, &base, compat, true), CALC_OK);
        ck_assert_uint_eq(rows.count, fresh.count);
        for (size_t r = 0; r < rows.count; r++) {
            const calc_stage_parts *got = &rows.row[r].parts;
            const calc_stage_parts *want = &fresh.row[r].parts;
            ck_assert_mem_eq(got->block, want->block, sizeof want->block);
            ck_assert_mem_eq(&got->embedding, &want->embedding, sizeof want->embedding);
            ck_assert_mem_eq(&got->head, &want->head, sizeof want->head);
            ck_assert_double_gt(want->block[CALC_DENSE_BLOCK].fw_s, 0);
        }
        calc_rows_free(&fresh);
    }
    end();
}
