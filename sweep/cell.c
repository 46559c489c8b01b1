#include "cell.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/stages/stage_parts.h"
#include "model/stages/stages.h"
#include "model/verdict.h"
#include "spec/rules.h"
#include "spec/schedule.h"
#include "variants.h"

/* The largest value of an axis below one of them; 0 if that is the first. */
static int64_t value_before(const calc_values *axis, int64_t value)
{
    size_t low = 0; /* so many are below it at least, */
    size_t high = axis->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool below = axis->value[middle] < value;
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    return low > 0 ? axis->value[low - 1] : 0;
}

int64_t calc_cell_batch(const calc_space *space, const calc_exec *base, int64_t data_par,
                        int64_t batch)
{
    if (space->batch_is_of_replica) {
        return batch % base->microbatch_size == 0 ? batch * data_par : 0;
    }
    int64_t local = batch / data_par;
    int64_t multiple = local * data_par;
    if (local == 0 || local % base->microbatch_size != 0) {
        return 0;
    }
    /* The maximum below may stand for the same. */
    bool stands =
        multiple == batch || (space->batch_is_maximum &&
                              value_before(&space->axis[CALC_AXIS_batch_size], batch) < multiple);
    return stands ? multiple : 0;
}

bool calc_cell_at(calc_cell *cell, const calc_space *space, const calc_app *app,
                  const calc_exec *base, int64_t num_procs, int64_t batch, int64_t pipeline_par)
{
    int64_t replica = base->strategy.tensor_par * pipeline_par;
    replica *= calc_ranks_or_one(base->strategy.context_par);
    if (num_procs % replica != 0 || pipeline_par > app->num_blocks) {
        return false;
    }
    int64_t data_par = num_procs / replica;
    int64_t taken = calc_cell_batch(space, base, data_par, batch);
    if (taken == 0 || !calc_space_has(space, CALC_AXIS_data_par, data_par)) {
        return false;
    }
    calc_space_copy(&cell->exec, base);
    cell->exec.num_procs = num_procs;
    cell->exec.pipeline_par = pipeline_par;
    cell->exec.strategy.data_par = data_par;
    cell->exec.batch_size = taken;
    cell->rounds = false;
    return true;
}

bool calc_cell_whole_rounds(calc_cell *cell, const calc_space *space, int64_t batch)
{
    const calc_exec *e = &cell->exec;
    int64_t micro = e->strategy.data_par * e->microbatch_size;
    if (!space->batch_is_maximum || e->batch_size / micro % e->pipeline_par == 0) {
        return false;
    }
    int64_t multiple = batch - batch % (micro * e->pipeline_par);
    if (value_before(&space->axis[CALC_AXIS_batch_size], batch) >= multiple) {
        return false;
    }
    cell->exec.batch_size = multiple;
    cell->rounds = true;
    return true;
}

bool calc_cell_chunkings_fit(const calc_space *space, const calc_app *app)
{
    const calc_values *axis = &space->axis[CALC_AXIS_pipeline_interleaving];
    /* Free layouts may have any number of chunks, others divisors of their blocks. */
    bool any =
        axis->all && calc_space_has(space, CALC_AXIS_pipeline_balance, CALC_PIPELINE_BALANCE_FREE);
    size_t divisors = (size_t)(2 * sqrt((double)app->num_blocks));
    size_t most = any ? (size_t)app->num_blocks / 2 + 1 : axis->all ? divisors : axis->count;
    return 2 * most <= CALC_CELL_CHUNKINGS;
}

/* ---- The cell -------------------------------------------------------------------------------- */

static bool same_class(const calc_stage_class *a, const calc_stage_class *b)
{
    bool same = true;
#define CALC_X(member) same = same && a->member == b->member;
    CALC_STAGE_CLASS_LIST(CALC_X)
#undef CALC_X
    return same;
}

/* Whether a balance that comes before this one in the space spreads the blocks over stages of one
 * chunk as it does: that one stands for both. */
static bool balanced_before(calc_cell *k, const calc_space *space, const calc_shape *shape,
                            const calc_stages *stages, calc_compat compat)
{
    const calc_values *axis = &space->axis[CALC_AXIS_pipeline_balance];
    calc_exec *e = &k->trial;
    const calc_pipeline_balance own = e->pipeline_balance;
    bool one_chunk =
        e->pipeline_interleaving == 1 && e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    bool same = false;
    for (size_t i = 0; i < axis->count && one_chunk && !same; i++) {
        calc_axis_put(e, CALC_AXIS_pipeline_balance, axis->value[i]);
        if (e->pipeline_balance >= own) {
            break;
        }
        const calc_stages s = calc_stages_split(shape, e, compat);
        same = s.fit == stages->fit && s.count == stages->count;
        for (size_t n = 0; n < s.count && same; n++) {
            same = same_class(&s.item[n], &stages->item[n]);
        }
    }
    e->pipeline_balance = own;
    return same;
}

void calc_cell_split(calc_cell *k, const calc_space *space, const calc_rows *rows,
                     calc_compat compat)
{
    const calc_values *axis = &space->axis[CALC_AXIS_pipeline_interleaving];
    int64_t overlap[2];
    calc_exec *e = &k->trial;
    bool chunked = calc_stages_interleave(e);
    /* Without messages there is nothing to overlap: false stands for both. */
    bool sends =
        e->pipeline_par > 1 || !calc_space_has(space, CALC_AXIS_pipeline_par_overlap, false);
    size_t overlaps = calc_space_pick_bool(space, CALC_AXIS_pipeline_par_overlap, sends, overlap);
    k->fitting = 0;
    k->unfit = 0;
    e->pipeline_interleaving = 1;
    const calc_stages whole = calc_stages_split(&rows->shape, e, compat);
    k->fewest_blocks = whole.fewest_blocks;
    int64_t most = chunked && whole.filled ? calc_stages_most_chunks(&whole) : 1;
    size_t candidates = axis->all ? (size_t)most : axis->count;
    for (size_t i = 0; i < candidates; i++) {
        int64_t v = axis->all ? (int64_t)i + 1 : axis->value[i];
        if (v > 1 ? !chunked : k->rounds) {
            continue;
        }
        e->pipeline_interleaving = v;
        if ((double)(e->strategy.recompute_group - 1) * (double)(e->pipeline_par * v) >=
            rows->shape.blocks) {
            continue; /* a group has more blocks than a chunk: calc_check() refuses it */
        }
        bool fit = calc_stages_fit(&whole, e, compat);
        if ((!fit && axis->all) || balanced_before(k, space, &rows->shape, &whole, compat)) {
            continue;
        }
        const calc_stages s = fit && v > 1 ? calc_stages_split(&rows->shape, e, compat) : whole;
        for (size_t o = 0; o < overlaps; o++) {
            calc_cell_chunking c = {v, overlap[o] != 0};
            if (fit) {
                calc_kernel_chunking *to = &k->shape[k->fitting];
                to->chunks = s.chunks;
                to->overlapped = c.overlapped;
                to->classes = calc_stages_classes(&s);
                to->experts = rows->shape.experts > 0;
                memcpy(to->item, s.item, sizeof to->item);
                k->chunking[k->fitting++] = c;
            } else {
                k->unfit_chunking[k->unfit++] = c;
            }
        }
    }
    e->strategy.weight_offload = true;
    k->offloads = !calc_verdict_offload_blocks(e, k->fewest_blocks);
    e->strategy.weight_offload = k->exec.strategy.weight_offload;
}

/* Without replicas only the state that shards nothing is legal. */
bool calc_cell_keeps(const calc_cell *k, const calc_space *space, bool experts,
                     const calc_row_choice *c)
{
    bool split = k->exec.pipeline_par > 1 || experts;
    bool plain = !c->sharding && c->zero == 0;
    return k->alone ? plain : !c->alone && !calc_row_choice_unusual(space, split, c);
}

static void fill_choices(calc_cell *k, const calc_space *space, const calc_rows *rows, bool experts)
{
    calc_cell_choices *to = &k->choices[experts];
    to->count = to->resident = 0;
    for (size_t i = 0; i < rows->choices; i++) {
        if (calc_cell_keeps(k, space, experts, &rows->choice[i])) {
            to->item[to->count++] = (unsigned char)i;
            to->resident += i < rows->resident;
        }
    }
}

static void fill_pairs(calc_cell *k, const calc_space *space, const calc_system *s,
                       const calc_rows *rows)
{
    calc_exec *e = &k->trial;
    bool placed = e->rank_order != CALC_RANK_ORDER_NETWORKS;
    int64_t pipeline[CALC_MAX_NETWORKS];
    int64_t data[CALC_MAX_NETWORKS];
    k->pipelines = calc_space_networks(space, CALC_AXIS_pipeline_par_net,
                                       placed ? 1 : e->pipeline_par, s, pipeline);
    k->datas = calc_space_networks(space, CALC_AXIS_data_par_net, placed ? 1 : e->strategy.data_par,
                                   s, data);
    for (size_t i = 0; i < k->pipelines * k->datas; i++) {
        k->pair[i].pipeline = e->pipeline_par_net = pipeline[i / k->datas];
        k->pair[i].data = e->strategy.data_par_net = data[i % k->datas];
        k->pair[i].expert_par = e->strategy.expert_par;
        for (size_t n = 0; n < rows->networks_count; n++) {
            e->strategy.tensor_par_net = rows->networks[n];
            k->verdict[n][i] = calc_verdict_networks(s, e);
        }
    }
    e->strategy.tensor_par_net = k->exec.strategy.tensor_par_net;
    assert(rows->spreads.count == 1 || k->pipelines * k->datas <= 1);
    for (size_t i = 0; i < rows->spreads.count && rows->spreads.count > 1; i++) {
        k->pair[i].pipeline = k->pair[0].pipeline;
        k->pair[i].data = k->pair[0].data;
        k->pair[i].expert_par = rows->spreads.expert_par[i];
    }
    k->lines = rows->spreads.count > 1 ? rows->spreads.count : k->pipelines * k->datas;
    for (size_t i = 0; i < k->lines; i++) {
        k->pair[i].known = k->pair[i].timed[0] = k->pair[i].timed[1] = false;
    }
}

void calc_cell_fill(calc_cell *k, const calc_space *space, const calc_system *system,
                    const calc_rows *rows)
{
    static const int64_t choices[] = {CALC_CHOICE_AUTO, CALC_CHOICE_TRUE, CALC_CHOICE_FALSE};
    calc_space_copy(&k->trial, &k->exec);
    k->alone = k->exec.strategy.data_par == 1 && k->exec.strategy.context_par <= 1;
    k->reduces = calc_space_pick_bool(space, CALC_AXIS_data_par_overlap,
                                      k->exec.training && !k->alone, k->reduce);
    k->gathers = calc_space_pick(space, CALC_AXIS_param_gather_overlap, choices, 3, k->gather);
    fill_choices(k, space, rows, rows->spreads.expert_par[0] > 1);
    if (rows->spreads.count > 1) {
        fill_choices(k, space, rows, true);
    }
    fill_pairs(k, space, system, rows);
    for (size_t i = 0; i < CALC_ROW_WEIGHTS; i++) {
        k->optimizer[i].known = false;
    }
    calc_cell_forget_links(k);
}

size_t calc_cell_choices_count(const calc_cell *k, const calc_rows *rows, int64_t expert_par,
                               size_t choices)
{
    const calc_cell_choices *legal = &k->choices[expert_par > 1];
    return choices < rows->choices ? legal->resident : legal->count;
}

/* ---- Parts that depend on terms -------------------------------------------------------------- */

/* The shortest paths of all chunkings, and the least that the first stage holds. */
static void set_floor(calc_cell *k, const calc_stage_terms *t)
{
    const calc_kernel_chunking *first = &k->shape[0];
    calc_floor *f = &k->floor;
    bool plain = k->exec.pipeline_schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    /* Not by rule with other schedules, nor without training: messages that were never sent are
     * then taken off whole, though they may have overlapped (`inference-message`). */
    *f = (calc_floor){.known = !t->compat || (t->training && plain) ? 1 : 0,
                      .same_first = true,
                      .held = first->held[0],
                      .peak = first->item[0]};
    f->peak = calc_stage_at_peak(t, k->exec.pipeline_schedule, &f->peak);
    for (size_t i = 0; i < k->fitting; i++) {
        const calc_kernel_chunking *c = &k->shape[i];
        calc_floor_path path[CALC_FLOOR_PATHS];
        calc_floor_paths(t, k->exec.pipeline_schedule, c->classes, c->item, c->chunks, path);
        for (int n = 0; n < CALC_FLOOR_PATHS; n++) {
            f->path[n] = i == 0 ? path[n] : f->path[n];
            f->path[n].dense = calc_min(f->path[n].dense, path[n].dense);
            f->path[n].moe = calc_min(f->path[n].moe, path[n].moe);
            f->path[n].embedding = calc_min(f->path[n].embedding, path[n].embedding);
            f->path[n].head = calc_min(f->path[n].head, path[n].head);
        }
        f->same_first = f->same_first && same_class(&c->item[0], &first->item[0]);
        f->held = calc_min(f->held, c->held[0]);
    }
}

void calc_cell_settle(calc_cell *k, const calc_stage_terms *t, bool bounds)
{
    for (size_t i = 0; i < k->fitting; i++) {
        calc_kernel_chunking *c = &k->shape[i];
        for (int n = 0; n < CALC_MAX_STAGE_CLASSES; n++) {
            bool there = n < c->classes;
            c->held[n] =
                there ? calc_stage_held(t, k->exec.pipeline_schedule, &c->item[n], c->chunks) : 0;
        }
    }
    if (k->fitting > 0 && bounds) {
        set_floor(k, t);
    }
}

const calc_stage_lines *calc_cell_ranks(calc_cell *k, const calc_system *system, size_t index)
{
    calc_cell_pair *pair = &k->pair[index];
    if (!pair->known) {
        calc_exec *e = &k->trial;
        e->pipeline_par_net = pair->pipeline;
        e->strategy.data_par_net = pair->data;
        e->strategy.expert_par = pair->expert_par;
        pair->groups = calc_groups_of(e, &e->strategy);
        calc_stage_lines_ranks(system, &k->trial, &k->trial.strategy, &pair->groups, &pair->lines);
        pair->known = true;
    }
    return &pair->lines;
}

const calc_stage_lines *calc_cell_lines(calc_cell *k, const calc_system *system,
                                        const calc_rows *rows, const calc_strategy *state,
                                        size_t index)
{
    calc_cell_pair *pair = &k->pair[index];
    bool sharded = calc_zero_stage(state) >= 1;
    bool *timed = &pair->timed[sharded];
    calc_cell_ranks(k, system, index);
    if (!*timed) {
        calc_stage_lines_time(system, state, &pair->groups, calc_stage_message_bytes(&rows->shape),
                              &pair->lines);
        *timed = true;
    }
    return &pair->lines;
}

const calc_optimizer_step *calc_cell_optimizer_of(calc_cell *k, const calc_row *row,
                                                  const calc_exec *exec,
                                                  const calc_stage_lines *lines)
{
    return calc_zero_stage(&exec->strategy) < 1
               ? NULL
               : calc_row_optimizer_of(k->optimizer, row, &exec->strategy, lines->dense_shards);
}

const calc_stage_links *calc_cell_links(calc_cell *k, const calc_rows *rows, const calc_row *row,
                                        calc_exec *exec, size_t index, size_t message)
{
    calc_cell_pair *pair = &k->pair[index];
    if (!pair->linked[message]) {
        const int64_t pipeline = exec->pipeline_par_net;
        const int64_t data = exec->strategy.data_par_net;
        const int64_t expert_par = exec->strategy.expert_par;
        exec->pipeline_par_net = pair->pipeline;
        exec->strategy.data_par_net = pair->data;
        exec->strategy.expert_par = pair->expert_par;
        pair->links[message] = calc_stage_links_of(
            &row->context, exec, row->parts.message_bytes,
            calc_cell_lines(k, row->context.system, rows, &exec->strategy, index));
        pair->linked[message] = true;
        exec->pipeline_par_net = pipeline;
        exec->strategy.data_par_net = data;
        exec->strategy.expert_par = expert_par;
    }
    return &pair->links[message];
}

void calc_cell_forget_links(calc_cell *k)
{
    for (size_t i = 0; i < k->lines; i++) {
        for (size_t m = 0; m < CALC_PANEL_MESSAGES; m++) {
            k->pair[i].linked[m] = false;
        }
    }
}
