/* Lanes as kernels see them in every cell: the terms of their layouts, to the bit, whatever is
 * sharded, offloaded or shared by both ends. */
#include "sheet.h"

#include "frame.h"
#include "small_case.h"
#include "units.h"
#include "worker.h"

static calc_space space;
static calc_app app;
static calc_system sys;
static calc_sweep_options options;
static calc_worker *worker;
static const calc_kernel *right;
static size_t lanes_seen, fitted_seen;

static void set(calc_axis axis, const int64_t *value, size_t count)
{
    ck_assert_int_eq(calc_space_set(&space, axis, value, count), CALC_OK);
}

static void begin(void)
{
    static const int64_t procs = 4;
    static const int64_t batch = 8;
    static const int64_t zero[] = {0, 1, 2, 3};
    static const int64_t fused[] = {false, true}; /* so that a sheet has several panels */
    static const int64_t comm = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    calc_kernel_level level[4];
    right = level[calc_kernel_levels(level) - 1].run;
    app = small_app();
    sys = small_system();
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    set(CALC_AXIS_num_procs, &procs, 1);
    set(CALC_AXIS_batch_size, &batch, 1);
    set(CALC_AXIS_zero_stage, zero, 4);
    set(CALC_AXIS_fused_activation, fused, 2);
    set(CALC_AXIS_tensor_par_comm_type, &comm, 1);
    options = (calc_sweep_options){.objectives = 2};
    ck_assert_int_eq(calc_objective_parse(&options.objective[0], "sample_rate", NULL), CALC_OK);
    ck_assert_int_eq(calc_objective_parse(&options.objective[1], "mem1", NULL), CALC_OK);
    lanes_seen = fitted_seen = 0;
}

static void end(void)
{
    calc_space_free(&space);
}

const calc_test_frame calc_tests = {.setup = begin, .teardown = end};

/* The terms of a lane in the cell, with the first of its networks and flags. */
static calc_stage_terms terms_of(const calc_panel *p, size_t lane)
{
    calc_cell *cell = &worker->cell;
    const calc_row *row = &worker->rows.row[p->row[lane]];
    calc_exec exec = calc_worker_exec_of(worker, row);
    calc_row_choice_put(&worker->rows.choice[p->choice[lane]], &exec.strategy);
    calc_cell_put_point(cell, worker->pair[0], &cell->chunking[0], worker->first_flag, &exec);
    calc_stage_terms t = worker->rows.terms[row->terms + p->choice[lane]];
    const calc_stage_lines *lines =
        calc_cell_lines(cell, &sys, &worker->rows, &worker->state.strategy,
                        calc_cell_pair_of(worker->pair[0], row->spread));
    calc_stage_terms_cell(&row->context, &exec, &row->parts, lines, NULL, &t);
    fitted_seen += calc_adapt_varies(row, &worker->rows.choice[p->choice[lane]]);
    return t;
}

/* Asserted only where it is not so: there are millions. */
static void same(const char *member, size_t lane, double got, double want)
{
    if (got != want) {
        ck_abort_msg("%s of lane %zu: %.17g, not %.17g", member, lane, got, want);
    }
}

static void assert_lane(const calc_kernel_job *job, size_t lane)
{
    const calc_panel *p = job->panel;
    calc_stage_terms t = terms_of(p, lane);
    t.expert_shards = app.num_experts > 0 ? t.expert_shards : 1; /* of none */
#define CALC_X(name, member) same(#name, lane, p->name[lane], t.member);
    CALC_PANEL_LIST(CALC_X)
    if (t.compat) {
        CALC_PANEL_RULE_LIST(CALC_X)
    }
#undef CALC_X
#define CALC_X(member) same(#member, lane, job->shared->member, t.member);
    CALC_PANEL_SHARED_LIST(CALC_X)
#undef CALC_X
    same("compat", lane, (double)job->shared->compat, (double)t.compat);
    same("training", lane, job->shared->training, t.training);
    lanes_seen++;
}

/* The kernel, which looks at what it is given. */
static void checked_needs(const calc_kernel_job *job, const calc_kernel_chunking *chunking,
                          calc_kernel_needs *out)
{
    for (size_t lane = 0; lane < calc_panel_whole(job->panel->count); lane++) {
        assert_lane(job, lane);
    }
    right->needs(job, chunking, out);
}

static void run_all(void)
{
    calc_units units = {0};
    calc_kernel checked = *right;
    checked.needs = checked_needs;
    worker = calc_worker_create(&space, &options, &checked, 1);
    ck_assert_ptr_nonnull(worker);
    calc_worker_begin(worker, &app, &sys, 0);
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, options.compat), CALC_OK);
    for (size_t i = 0; i < units.count; i++) {
        calc_units_run(worker, &units, i);
        ck_assert_int_eq(worker->status, CALC_OK);
    }
    calc_units_free(&units);
    calc_worker_free(worker);
    ck_assert_uint_gt(fitted_seen, 0);
    ck_assert_uint_gt(lanes_seen, 1000);
}

CALC_TEST_LOOP(lanes_are_their_layouts_in_every_cell, 0, 8)
{
    static const calc_compat compat[] = {
        CALC_COMPAT_NONE, CALC_COMPAT_REPAIRED, CALC_COMPAT_CALCULON,
        (calc_compat)1 << CALC_COMPAT_BLOCK_MEMORY | (calc_compat)1 << CALC_COMPAT_OFFLOAD_EACH};
    options.compat = compat[_i / 2];
    options.no_prune = _i % 2 > 0;
    run_all();
}

CALC_TEST_LOOP(ends_that_share_a_table_hold_it_once, 0, 2)
{
    app.vocab_size = 1024;
    app.tied_embeddings = CALC_CHOICE_TRUE;
    options.no_prune = _i > 0;
    run_all();
    ck_assert_uint_eq(fitted_seen, lanes_seen);
}

CALC_TEST_LOOP(experts_are_sharded_over_their_own_replicas, 0, 2)
{
    static const int64_t experts[] = {1, 2};
    app.num_experts = 4;
    app.experts_per_token = 1;
    set(CALC_AXIS_expert_par, experts, 2);
    options.no_prune = _i > 0;
    run_all();
}
