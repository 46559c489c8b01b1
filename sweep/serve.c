#include "serve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "filter.h"
#include "model/run.h"
#include "model/serve/inference.h"
#include "model/verdict.h"
#include "spec/field.h"
#include "spec/rules.h"
#include "variants.h"
#include "worker.h"

/* ---- Replicas -------------------------------------------------------------------------------- */

enum { PLACES = 1 << 12 };

/* Statistics that are the same however many replicas there are, and those that follow from the
 * throughput of each. */
static const size_t of_one[] = {
#define CALC_X(name) offsetof(calc_stats, name)
    CALC_X(ttft),         CALC_X(prefill_share),
    CALC_X(tpot),         CALC_X(mem_allocated),
    CALC_X(ttft_p50),     CALC_X(kv_cache_space),
    CALC_X(ttft_p99),     CALC_X(tokens_per_step),
    CALC_X(queue_time),   CALC_X(decode_step_time),
    CALC_X(total_time),   CALC_X(kv_capacity_tokens),
    CALC_X(request_time), CALC_X(tokens_per_s_per_user),
    CALC_X(prefill_time), CALC_X(proc_mem_tier1_cap_req),
    CALC_X(weight_space), CALC_X(proc_mem_tier2_cap_req)};
static const size_t of_all[] = {
    CALC_X(requests_per_s),      CALC_X(sample_rate),
    CALC_X(output_tokens_per_s), CALC_X(output_tokens_per_s_per_proc),
    CALC_X(tokens_per_s),        CALC_X(tokens_per_s_per_proc),
    CALC_X(energy_per_token),    CALC_X(usd_per_million_output_tokens),
#undef CALC_X
};

static bool is_among(const size_t *list, size_t count, size_t offset)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found = found || list[i] == offset;
    }
    return found;
}

static void ask(calc_replicas *r, const calc_field *field)
{
    if (is_among(of_all, sizeof of_all / sizeof *of_all, field->offset)) {
        return; /* made anew each time */
    }
    if (is_among(r->offset, r->asked, field->offset)) {
        return;
    }
    if (r->asked == CALC_REPLICA_ASKED || field->type != CALC_TYPE_REAL) {
        r->keeps = false;
        return;
    }
    r->offset[r->asked++] = field->offset;
    r->shared = r->shared && is_among(of_one, sizeof of_one / sizeof *of_one, field->offset);
}

bool calc_replicas_init(calc_replicas *r, const calc_sweep_options *o)
{
    *r = (calc_replicas){.keeps = true, .shared = true, .count = PLACES};
    for (size_t i = 0; i < o->objectives; i++) {
        ask(r, o->objective[i].field);
    }
    if (o->top > 0) {
        ask(r, o->top_by.field);
    }
    for (size_t i = 0; i < o->constraints; i++) {
        if (o->constraint[i].kind == CALC_KIND_STATS) {
            ask(r, o->constraint[i].field);
        }
    }
    r->item = calloc(r->count, sizeof *r->item);
    return r->item != NULL;
}

void calc_replicas_free(calc_replicas *r)
{
    free(r->item);
    r->item = NULL;
}

/* Batches that follow one another have places that do. */
size_t calc_replicas_place(const calc_replica_key *key)
{
    uint64_t hash = calc_hash_word(calc_hash_word(0, key->number), (uint64_t)key->stages);
    hash = calc_hash_word(hash, (uint64_t)key->replicas);
    return (size_t)(hash >> 32);
}

/* No function call here, and the batch, which was just written, is compared separately: both would
 * take longer than the rest. */
static bool same(const calc_replica_key *a, const calc_replica_key *b)
{
    enum { WORDS = offsetof(calc_replica_key, batch) / sizeof(uint64_t) };
    uint64_t x[WORDS];
    uint64_t y[WORDS];
    uint64_t differs = 0;
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    for (size_t i = 0; i < WORDS; i++) {
        differs |= x[i] ^ y[i];
    }
    return differs == 0 && a->batch == b->batch;
}

calc_replica *calc_replicas_at(calc_replicas *r, size_t place, const calc_replica_key *key)
{
    calc_replica *at = &r->item[(place + (size_t)key->batch) & (r->count - 1)];
    if (at->known && !same(&at->key, key)) {
        at->known = false;
    }
    if (!at->known) {
        at->key = *key;
    }
    return at;
}

void calc_replicas_keep(const calc_replicas *r, calc_replica *at, const calc_serving_flow *flow,
                        const calc_stats *stats)
{
    at->known = true;
    at->verdict = stats->verdict;
    if (!flow) {
        return;
    }
    at->flow = *flow;
    for (size_t i = 0; i < r->asked; i++) {
        memcpy(&at->value[i], (const char *)stats + r->offset[i], sizeof at->value[i]);
    }
}

void calc_replicas_put(const calc_replicas *r, const calc_replica *from, double count, double procs,
                       calc_stats *stats)
{
    stats->verdict = from->verdict;
    if (from->verdict != CALC_VERDICT_OK) {
        return;
    }
    calc_serving_flow flow = from->flow;
    flow.replicas = count;
    flow.procs = procs;
    for (size_t i = 0; i < r->asked; i++) {
        memcpy((char *)stats + r->offset[i], &from->value[i], sizeof from->value[i]);
    }
    calc_serving_flow_put(&flow, stats);
}

bool calc_replicas_know(const calc_replicas *r, size_t offset)
{
    return is_among(r->offset, r->asked, offset) ||
           is_among(of_all, sizeof of_all / sizeof *of_all, offset);
}

/* ---- Layouts that serve ---------------------------------------------------------------------- */

enum {
    PASSES = 1 << 9,   /* that are kept: the capacity of a cache */
    COMMONS = 1 << 12, /* batches whose experts alone are left to compute */
    TABLES = 32        /* whose passes are told apart, the latest ones */
};

/* A table of rows, with its key. */
typedef struct table {
    uint64_t design;
    size_t rows;
    calc_exec base;
    uint64_t strategies; /* hash of those of the rows, but for how they spread experts */
    uint64_t first;      /* number of its first model, */
    uint64_t common;     /* and of the first of those that spread experts another way */
} table;

/* Data common to the layouts of a row. */
typedef struct served_row {
    bool known;
    calc_inference_pass_model model, pool;
} served_row;

struct calc_serve {
    const calc_app *app;
    const calc_system *system;
    size_t rows, capacity;
    served_row *row;
    size_t tables; /* so far */
    table table[TABLES];
    uint64_t first, common; /* numbers of the current table */
    uint64_t numbered;      /* models so far */
    calc_pass_memo memo;
    calc_serving serving; /* its models belong to the current row */
    calc_stats stats; /* the same ones are written for every layout of a table, null the others */
    calc_replicas replicas;
    uint64_t at;           /* number of the current row */
    calc_replica_key key;  /* of the layout at hand, */
    size_t place;          /* its place but for its batch, */
    bool alone;            /* and whether it is one replica's */
    calc_replica_key last; /* whose statistics these are, */
    bool whole;            /* all of them, or only those that are asked for */
};

calc_serve *calc_serve_create(const calc_sweep_options *options)
{
    calc_serve *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->numbered = 1; /* 0 owns what is not known */
    s->memo = (calc_pass_memo){PASSES, calloc(PASSES, sizeof *s->memo.entry), COMMONS,
                               calloc(COMMONS, sizeof *s->memo.common)};
    if (!s->memo.entry || !s->memo.common || !calc_replicas_init(&s->replicas, options)) {
        calc_serve_free(s);
        return NULL;
    }
    return s;
}

void calc_serve_free(calc_serve *s)
{
    if (s) {
        free(s->memo.entry);
        free(s->memo.common);
        free(s->row);
        calc_replicas_free(&s->replicas);
        free(s);
    }
}

static uint64_t hash_strategies(const calc_rows *rows)
{
    uint64_t hash = CALC_HASH_START;
    for (size_t i = 0; i < rows->count; i++) {
        for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
            bool spreads = axis == CALC_AXIS_expert_par || axis == CALC_AXIS_expert_tensor_par;
            int64_t value = spreads ? 0 : calc_axis_get(&rows->row[i].exec, (calc_axis)axis);
            hash = calc_hash(hash, &value, sizeof value);
        }
    }
    return hash;
}

static bool same_table(const table *a, const table *b)
{
    return a->rows == b->rows && a->design == b->design && a->strategies == b->strategies &&
           calc_axis_compare(&a->base, &b->base) == 0;
}

/* Numbers for the models of the rows: those of a table that is alike, or new ones. */
static void number_rows(calc_serve *s, const calc_worker *w, size_t rows)
{
    table new = {w->design, rows, w->base, hash_strategies(&w->rows), s->numbered, s->numbered};
    /* Units that differ only in how stages are divided have the same passes. */
    new.base.pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    new.base.first_stage_blocks = new.base.last_stage_blocks = 0;
    for (size_t i = 0; i < s->tables && i < TABLES; i++) {
        const table *t = &s->table[i];
        if (same_table(t, &new)) {
            s->first = t->first;
            s->common = t->common;
            return;
        }
        /* Whether they differ in how experts are spread at most. */
        table like = *t;
        like.base.strategy.expert_par = new.base.strategy.expert_par;
        like.base.strategy.expert_tensor_par = new.base.strategy.expert_tensor_par;
        new.common = same_table(&like, &new) ? t->common : new.common;
    }
    s->table[s->tables++ % TABLES] = new;
    s->first = new.first;
    s->common = new.common;
    s->numbered += 2 * rows;
}

calc_status calc_serve_rows(calc_serve *s, const calc_worker *w)
{
    size_t rows = w->rows.count * w->rows.choices;
    s->app = w->app;
    s->system = w->system;
    s->rows = rows;
    calc_stats_none(&s->stats);      /* phases write different ones */
    s->last = (calc_replica_key){0}; /* no layout has one without stages */
    if (rows > s->capacity) {
        free(s->row);
        s->row = malloc(rows * sizeof *s->row);
        s->capacity = s->row ? rows : 0;
    }
    for (size_t i = 0; i < s->capacity && i < rows; i++) {
        s->row[i].known = false;
    }
    number_rows(s, w, rows);
    return rows <= s->capacity ? CALC_OK : CALC_ERR_NOMEM;
}

void calc_serve_row(calc_serve *s, size_t index, const calc_exec *exec)
{
    served_row *row = &s->row[index];
    if (!row->known) {
        calc_serving_init(&s->serving, s->app, s->system, exec);
        row->known = true;
        row->model = s->serving.model;
        row->pool = s->serving.pool;
        row->model.memo = row->pool.memo = &s->memo;
        row->model.number = s->first + index;
        row->pool.number = s->first + s->rows + index;
        row->model.common = s->common + index;
        row->pool.common = s->common + s->rows + index;
    }
    calc_inference_pass_model_take(&s->serving.model, &row->model);
    if (s->serving.prefill == &s->serving.pool) {
        calc_inference_pass_model_take(&s->serving.pool, &row->pool);
    }
    s->at = row->model.number;
}

/* Effective differences of layouts of a row: networks of replicas, and overlap with gathering
 * weights, only where weights are gathered or caches sent. */
static calc_replica_key key_of(const calc_serve *s, const calc_exec *e, bool alone)
{
    const calc_strategy *strategy = &e->strategy;
    const calc_inference *i = &e->inference;
    bool sharded = calc_zero_stage(strategy) >= 3;
    bool apart = i->phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
    calc_replica_key key = {
        .number = s->at,
        .stages = e->pipeline_par,
        .first_blocks = e->first_stage_blocks,
        .last_blocks = e->last_stage_blocks,
        .balance = (int64_t)e->pipeline_balance,
        .chunks = e->pipeline_interleaving,
        .replicas = alone ? 0 : strategy->data_par,
        .procs = alone ? 0 : e->num_procs,
    };
    if (e->pipeline_par > 1) {
        key.network = calc_inference_pass_network(s->system, e);
        key.overlapped = strategy->pipeline_par_overlap;
    }
    if (sharded || apart || e->rank_order == CALC_RANK_ORDER_NETWORKS) {
        key.data_network = strategy->data_par_net;
    }
    if (sharded || apart) {
        key.reduce = strategy->data_par_overlap;
        key.gather = (int64_t)strategy->param_gather_overlap;
    }
    return key;
}

static void run(calc_serve *s, const calc_exec *exec, calc_replica *at)
{
    calc_serving_at(&s->serving, exec);
    bool fine = calc_serving_put_memory(&s->serving, &s->stats) == CALC_VERDICT_OK;
    if (fine) {
        calc_serving_put(&s->serving, &s->stats);
    }
    if (at) {
        calc_serving_flow flow = calc_serving_flow_of(&s->serving, &s->stats);
        calc_replicas_keep(&s->replicas, at, fine ? &flow : NULL, &s->stats);
    }
}

void calc_serve_at(calc_serve *s, const calc_exec *exec)
{
    const calc_inference *i = &exec->inference;
    /* Answers are shared with those of other numbers of replicas. */
    s->alone = s->replicas.keeps && s->replicas.shared && i->phase == CALC_INFERENCE_PHASE_SERVE &&
               i->arrival_rate == 0 && i->requests == 0 && calc_zero_stage(&exec->strategy) < 3;
    s->key = key_of(s, exec, s->alone);
    s->place = calc_replicas_place(&s->key);
}

calc_verdict calc_serve_run(calc_serve *s, const calc_exec *exec, const calc_stats **stats)
{
    int64_t batch = exec->inference.batch > 0 ? exec->inference.batch : exec->batch_size;
    s->key.batch = s->alone ? batch / exec->strategy.data_par : batch;
    *stats = &s->stats;
    calc_replica *at = s->replicas.keeps ? calc_replicas_at(&s->replicas, s->place, &s->key) : NULL;
    if (at && at->known) {
        double procs = (double)(exec->num_procs + exec->inference.prefill_procs);
        calc_replicas_put(&s->replicas, at, (double)exec->strategy.data_par, procs, &s->stats);
        s->whole = false;
    } else if (at || memcmp(&s->last, &s->key, sizeof s->key) != 0) {
        run(s, exec, at);
        s->last = s->key;
        s->whole = true;
    }
    return s->stats.verdict;
}

/* Numbers that are equal, or both null. */
static bool equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

bool calc_serve_agrees(const calc_serve *s, const calc_exec *exec)
{
    const calc_table *fields = calc_table_of(CALC_KIND_STATS);
    calc_stats run;
    calc_verdict verdict = calc_run(s->app, s->system, exec, CALC_COMPAT_NONE, &run);
    bool same = verdict == s->stats.verdict &&
                (!s->whole || equal(run.proc_mem_tier1_cap_req, s->stats.proc_mem_tier1_cap_req));
    for (size_t i = 0; i < fields->count && verdict == CALC_VERDICT_OK; i++) {
        size_t at = fields->rows[i].offset;
        const double *a = (const double *)(const void *)((const char *)&run + at);
        const double *b = (const double *)(const void *)((const char *)&s->stats + at);
        bool known = s->whole || calc_replicas_know(&s->replicas, at);
        same = same && (!known || equal(*a, *b));
    }
    return same;
}

/* ---- Cells that serve ------------------------------------------------------------------------ */

/* Where a walk is. */
typedef struct walk {
    calc_worker *w;
    const calc_unit *unit;
    const calc_exec *base;
    bool filled;      /* the rows of the unit are */
    bool conditioned; /* some conditions are on fields */
    size_t batches;   /* that are legal in the cell */
    int64_t *batch;
} walk;

bool calc_serve_walk_takes(const calc_worker *w)
{
    return w->serve && !w->visit && !w->counts_only && !w->batch;
}

static bool is_legal(calc_worker *w, calc_exec *exec)
{
    return calc_legal_cell(w->space, &w->axes, w->app, &w->spreads, exec, w->cell.legal);
}

/* The batches of a cell, which is at one of them. */
static void list_batches(walk *k)
{
    const calc_space *space = k->w->space;
    const calc_values *axis = &space->axis[CALC_AXIS_batch_size];
    calc_exec *e = &k->w->cell.exec;
    bool same = !calc_legal_by_batch(e);
    bool fine = same && is_legal(k->w, e);
    k->batches = 0;
    for (size_t i = k->unit->batches_begin; i < k->unit->batches_end && (fine || !same); i++) {
        int64_t batch = calc_cell_batch(space, k->base, e->strategy.data_par, axis->value[i]);
        e->batch_size = batch;
        if (batch > 0 && (same || is_legal(k->w, e))) {
            k->batch[k->batches++] = batch;
        }
    }
}

/* Go to the cell of so many processors and stages, whose blocks are those of a variant.
 * @return whether it has layouts */
static bool go_to(walk *k, const calc_exec *variant, size_t procs, int64_t pipeline_par)
{
    calc_worker *w = k->w;
    const calc_values *axis = &w->space->axis[CALC_AXIS_batch_size];
    const calc_strategy *s = &k->base->strategy;
    int64_t num_procs = w->space->axis[CALC_AXIS_num_procs].value[procs];
    int64_t replica = s->tensor_par * pipeline_par * calc_ranks_or_one(s->context_par);
    bool found = false;
    if (num_procs % replica != 0) {
        return false;
    }
    /* The largest has room for most replicas. */
    for (size_t i = k->unit->batches_end; i-- > k->unit->batches_begin && !found;) {
        found = calc_cell_at(&w->cell, w->space, w->app, k->base, num_procs, axis->value[i],
                             pipeline_par);
    }
    if (found) {
        calc_variant_put_stages(variant, &w->cell.exec);
        list_batches(k);
    }
    if (!found || k->batches == 0) {
        return false;
    }
    if (!k->filled) {
        w->status = calc_worker_rows(w, k->base);
        k->filled = true;
    }
    w->cell.procs_index = procs;
    if (w->status == CALC_OK) {
        calc_worker_fill(w);
    }
    return w->status == CALC_OK && w->cell.reduces * w->cell.gathers > 0;
}

/* Count layouts of which nothing is computed, in all batches. */
static void reject(walk *k, calc_verdict verdict, size_t layouts)
{
    k->w->counts.total += layouts * k->batches;
    k->w->counts.rejected[verdict] += layouts * k->batches;
}

/* A layout in every batch. */
static void run_batches(walk *k, calc_exec *e)
{
    calc_worker *w = k->w;
    calc_serve_at(w->serve, e);
    for (size_t i = 0; i < k->batches && w->status == CALC_OK && !w->stopped; i++) {
        e->batch_size = k->batch[i];
        w->counts.total++;
        if (k->conditioned && !calc_filter_fields(w, e)) {
            w->counts.skipped++;
            continue;
        }
        calc_batch_serve(w, e);
        if (w->counts.evaluated % CALC_BATCH_LOOK == 0) {
            calc_batch_look(w);
        }
    }
}

/* A choice of a row. */
static void run_choice(walk *k, const calc_row *row, calc_exec *e)
{
    calc_worker *w = k->w;
    const calc_cell *c = &w->cell;
    size_t flags = c->reduces * c->gathers;
    bool away = calc_verdict_offload_blocks(e, c->fewest_blocks);
    for (size_t pair = 0; pair < c->pipelines * c->datas; pair++) {
        calc_verdict verdict = c->verdict[row->network][pair];
        if (!calc_cell_pairs_with(c, row->data_network, pair)) {
            continue;
        }
        if (verdict != CALC_VERDICT_OK) {
            reject(k, verdict, flags * (c->fitting + c->unfit));
            continue;
        }
        reject(k, CALC_VERDICT_INTERLEAVING, flags * c->unfit);
        if (away) {
            reject(k, CALC_VERDICT_OFFLOAD_BLOCKS, flags * c->fitting);
            continue;
        }
        for (size_t i = 0; i < flags * c->fitting; i++) {
            calc_cell_put_point(c, pair, &c->chunking[i / flags], i % flags, e);
            run_batches(k, e);
        }
    }
}

static void run_rows(walk *k)
{
    calc_worker *w = k->w;
    const calc_cell *c = &w->cell;
    calc_exec e = c->exec;
    e.pipeline_interleaving = 1;
    for (size_t i = 0; i < w->rows.count; i++) {
        const calc_row *row = &w->rows.row[i];
        int64_t expert_par = row->exec.strategy.expert_par;
        const unsigned char *legal = calc_cell_choices_of(c, expert_par);
        size_t choices = calc_cell_choices_count(c, &w->rows, expert_par, row->choices);
        e.strategy = row->exec.strategy;
        e.strategy.data_par = c->exec.strategy.data_par;
        for (size_t choice = 0; choice < choices && w->status == CALC_OK && !w->stopped; choice++) {
            calc_worker_put_choice(w, choice, &e);
            calc_serve_row(w->serve, i * w->rows.choices + legal[choice], &e);
            run_choice(k, row, &e);
        }
    }
}

/* The cells of a variant with so many stages. */
static void run_cells(walk *k, const calc_exec *variant, int64_t pipeline_par)
{
    calc_worker *w = k->w;
    for (size_t n = k->unit->procs_begin;
         n < k->unit->procs_end && w->status == CALC_OK && !w->stopped; n++) {
        if (go_to(k, variant, n, pipeline_par)) {
            pthread_mutex_t *lock = calc_worker_set_group(w);
            pthread_mutex_lock(lock);
            run_rows(k);
            pthread_mutex_unlock(lock);
        }
    }
}

void calc_serve_walk(calc_worker *w, const calc_units *units, const calc_unit *unit,
                     const calc_exec *base)
{
    const calc_conditions *known = &w->conditions;
    const calc_variant *variant = &units->variants.item[unit->variant];
    walk k = {.w = w, .unit = unit, .base = base};
    k.batch = malloc((unit->batches_end - unit->batches_begin) * sizeof *k.batch);
    if (!k.batch) {
        w->status = CALC_ERR_NOMEM;
        return;
    }
    k.conditioned = !w->options->no_prune &&
                    (known->any[CALC_CONDITION_TILE] || known->any[CALC_CONDITION_LANE] ||
                     known->any[CALC_CONDITION_FLAG]);
    for (size_t i = unit->stages_begin; i < unit->stages_end; i++) {
        for (size_t v = 0; v < unit->variants; v++) {
            run_cells(&k, &variant[v].exec, units->pipeline[i]);
        }
    }
    free(k.batch);
}
