#include "serve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/run.h"
#include "model/serve/inference.h"
#include "replicas.h"
#include "spec/field.h"
#include "worker.h"

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
    bool known;
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

/* The table of a unit: units that differ only in how stages are divided have the same passes. */
static table table_of(const calc_serve *s, const calc_worker *w, size_t rows)
{
    table t = {w->design, rows, w->base, hash_strategies(&w->rows), s->numbered, s->numbered};
    t.base.pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    t.base.first_stage_blocks = 0;
    t.base.last_stage_blocks = 0;
    return t;
}

static bool same_table(const table *a, const table *b)
{
    return a->rows == b->rows && a->design == b->design && a->strategies == b->strategies &&
           calc_axis_compare(&a->base, &b->base) == 0;
}

/* Whether two differ in how experts are spread at most. */
static bool same_but_experts(const table *a, const table *b)
{
    table x = *a;
    x.base.strategy.expert_par = b->base.strategy.expert_par;
    x.base.strategy.expert_tensor_par = b->base.strategy.expert_tensor_par;
    return same_table(&x, b);
}

/* Numbers for the models of the rows: those of a table that is alike, or new ones. */
static void number_rows(calc_serve *s, const calc_worker *w, size_t rows)
{
    table new = table_of(s, w, rows);
    for (size_t i = 0; i < s->tables && i < TABLES; i++) {
        const table *t = &s->table[i];
        if (same_table(t, &new)) {
            s->first = t->first;
            s->common = t->common;
            return;
        }
        new.common = same_but_experts(t, &new) ? t->common : new.common;
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
    calc_stats_none(&s->stats); /* phases write different ones */
    s->known = false;
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

bool calc_serve_shares(const calc_serve *s, const calc_exec *e)
{
    const calc_inference *i = &e->inference;
    return s->replicas.keeps && s->replicas.shared && i->phase == CALC_INFERENCE_PHASE_SERVE &&
           i->arrival_rate == 0 && i->requests == 0 && calc_zero_stage(&e->strategy) < 3;
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
    s->alone = calc_serve_shares(s, exec);
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
    } else if (at || !s->known || memcmp(&s->last, &s->key, sizeof s->key) != 0) {
        run(s, exec, at);
        s->last = s->key;
        s->known = true;
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
