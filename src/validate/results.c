#include "validate/results.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "io/csv_table.h"
#include "model/run.h"
#include "spec/serving_engine.h"
#include "validate/error_groups.h"

/* Those of CALC_QUANTITY_LIST, and all of them. */
static const char *const quantities[] = {"step_time",           "memory",     "tpot", "ttft", "e2e",
                                         "output_tokens_per_s", "tpot_shape", "any",  NULL};
static const char *const uses[] = {"unscored", "suspect", NULL};

static const calc_csv_column columns[] = {
    {.name = "id", CALC_CSV_MEMBER(calc_remark, id)},
    {.name = "quantity", CALC_CSV_MEMBER(calc_remark, quantity), .words = quantities},
    {.name = "use", CALC_CSV_MEMBER(calc_remark, use), .words = uses},
    {.name = "remark", CALC_CSV_MEMBER(calc_remark, remark)}};

static const calc_csv_table table = CALC_CSV_TABLE(columns, calc_remark, NULL);

CALC_CSV_LIST_READS(calc_remarks, calc_remarks_read, calc_remarks_free, table)

const calc_remark *calc_remarks_find(const calc_remarks *remarks, const char *id,
                                     const char *quantity)
{
    for (size_t i = 0; i < remarks->count; i++) {
        const calc_remark *r = &remarks->item[i];
        bool about = strcmp(r->quantity, "any") == 0 || strcmp(r->quantity, quantity) == 0;
        if (about && fnmatch(r->id, id, 0) == 0) {
            return r;
        }
    }
    return NULL;
}

enum { STAGES_MAX = 64, NARROW_BYTES = 2, WIDE_BYTES = 4 };

/* Tokens of a micro-batch on a rank that splits its context. */
static double tokens_of(const calc_run_map *map)
{
    const calc_exec *e = &map->exec;
    return (double)(map->app.seq_size * e->microbatch_size) / (double)e->strategy.context_par;
}

/* Memory of FSDP2 under stages. */
static double staged_pieces(const calc_run_map *map, const calc_stage_stats *stage)
{
    const calc_exec *e = &map->exec;
    const calc_strategy *s = &e->strategy;
    if (e->pipeline_par < 2) {
        return 0;
    }
    double shards = (double)(s->data_par * s->context_par);
    double batches = (double)e->batch_size / (double)(s->data_par * e->microbatch_size);
    double chunks = (double)e->pipeline_interleaving;
    double message = NARROW_BYTES * tokens_of(map) * (double)map->app.hidden;
    return stage->weight_grad_space / shards +
           2 * chunks * batches * message / (double)s->tensor_par;
}

double calc_reserved_of(const calc_run_map *map, const calc_system *system)
{
    calc_stage_stats stage[STAGES_MAX];
    size_t count =
        calc_each_stage(&map->app, system, &map->exec, CALC_COMPAT_NONE, stage, STAGES_MAX);
    const calc_strategy *s = &map->exec.strategy;
    double logits = tokens_of(map) * (double)map->app.vocab_size / (double)s->tensor_par;
    double each = s->fused_cross_entropy ? 0 : NARROW_BYTES + (s->tensor_par > 1 ? WIDE_BYTES : 0);
    double most = (double)NAN;
    for (size_t i = 0; i < count && i < STAGES_MAX; i++) {
        double occupied = stage[i].mem_tier1 - stage[i].mem_overhead;
        bool head = i + 1 == count && stage[i].head_space > 0;
        double loss = head ? stage[i].working_space + each * logits : 0;
        most = fmax(most, occupied + loss + staged_pieces(map, &stage[i]));
    }
    return most;
}

#define GIB 1073741824.0

/* Predicted memory of the kind that was measured: of tensors, taken by the allocator, or all that
 * the processor needs. */
static double memory_of(const calc_run_map *map, const calc_system *system, const calc_stats *stats)
{
    if (calc_run_map_counts(map, "last_rank") && map->exec.pipeline_par > 1) {
        /* Tensors on the last rank, the only one in Megatron-LM's log. */
        calc_stage_stats stage[STAGES_MAX];
        size_t count =
            calc_each_stage(&map->app, system, &map->exec, CALC_COMPAT_NONE, stage, STAGES_MAX);
        const calc_stage_stats *last = &stage[count < STAGES_MAX ? count - 1 : STAGES_MAX - 1];
        return count > 0 ? last->mem_tier1 - last->mem_overhead : NAN;
    }
    if (calc_run_map_counts(map, "reserved")) {
        return calc_reserved_of(map, system);
    }
    return calc_run_map_counts(map, "allocated") ? stats->mem_allocated
                                                 : stats->proc_mem_tier1_cap_req;
}

/* The machine of a run, and its measured operators. */
typedef struct machine {
    const calc_system *system;
    const calc_kernel_table *measured;
} machine;

/* One layout. @return its step time; NaN with a reason if there is none */
static double try_layout(calc_prediction *p, const machine *m, const calc_exec *exec)
{
    calc_stats stats;
    calc_errors errors = {0};
    if (calc_check(&p->map.app, m->system, exec, &errors) != CALC_OK) {
        snprintf(p->reason, sizeof p->reason, "%.60s: %.190s", errors.item[0].pointer,
                 errors.item[0].text);
        return (double)NAN;
    }
    calc_verdict verdict =
        m->measured ? calc_run_measured(&p->map.app, m->system, exec, m->measured, &stats)
                    : calc_run(&p->map.app, m->system, exec, CALC_COMPAT_NONE, &stats);
    bool full = verdict == CALC_VERDICT_MEM1_CAPACITY || verdict == CALC_VERDICT_MEM2_CAPACITY;
    bool fine = verdict == CALC_VERDICT_OK || full;
    if (!fine || !(stats.total_time > 0) || !isfinite(stats.total_time)) {
        snprintf(p->reason, sizeof p->reason, "verdict %s", calc_verdict_text(verdict));
        return (double)NAN;
    }
    p->need_bytes = stats.proc_mem_tier1_cap_req;
    p->predicted[CALC_QUANTITY_MEMORY] = memory_of(&p->map, m->system, &stats);
    bool first = verdict == CALC_VERDICT_MEM1_CAPACITY;
    double there = first ? stats.mem_tier1_capacity : stats.mem_tier2_capacity;
    p->misfit[0] = '\0';
    if (full) {
        snprintf(p->misfit, sizeof p->misfit, "does not fit: %.4g of %.4g GiB",
                 (first ? p->need_bytes : stats.proc_mem_tier2_cap_req) / GIB, there / GIB);
    }
    if (full && !p->map.search) {
        calc_assumptions_add(&p->map.assumed, "predicted to need more memory than the machine has");
    }
    return stats.total_time;
}

/* Whether the sizes divide the numbers that they must. */
static bool is_candidate(const calc_exec *e, int64_t blocks, int64_t batch, int64_t chunks)
{
    int64_t stages = e->pipeline_par;
    int64_t together = e->strategy.data_par * batch;
    if (e->batch_size % together != 0 || (stages >= 8 && batch > 2)) {
        return false;
    }
    int64_t batches = e->batch_size / together;
    return chunks == 1 || (stages > 1 && blocks % (stages * chunks) == 0 && batches % stages == 0);
}

static double search(calc_prediction *p, const machine *m)
{
    double best_s = (double)NAN;
    calc_exec best = p->map.exec;
    for (int64_t batch = 1; batch <= 16; batch *= 2) {
        for (int64_t chunks = 1; chunks <= 4; chunks *= 2) {
            calc_exec e = p->map.exec;
            if (!is_candidate(&e, p->map.app.num_blocks, batch, chunks)) {
                continue;
            }
            e.microbatch_size = batch;
            e.pipeline_interleaving = chunks;
            double step_s = try_layout(p, m, &e);
            if (step_s < best_s || (isnan(best_s) && !isnan(step_s))) {
                best_s = step_s;
                best = e;
            }
        }
    }
    p->map.exec = best;
    p->predicted[CALC_QUANTITY_MEMORY] = (double)NAN;
    return isnan(best_s) ? best_s : try_layout(p, m, &p->map.exec);
}

void calc_predict(calc_prediction *out, const calc_runs_row *row, calc_documents *systems)
{
    *out = (calc_prediction){.need_bytes = (double)NAN};
    calc_quantities_none(out->predicted);
    calc_run_map *map = &out->map;
    calc_run_map_row(map, row);
    if (map->reason) {
        snprintf(out->reason, sizeof out->reason, "%s", map->reason);
        return;
    }
    const calc_document *entry = calc_documents_get(systems, row->sys);
    if (!entry->fine) {
        snprintf(out->reason, sizeof out->reason, "%s", entry->reason);
        return;
    }
    if (row->document->by_fields) {
        /* The order of ranks decides, but the indices must be there. */
        int64_t outer = entry->system.networks_count > 1 ? 1 : 0;
        map->exec.pipeline_par_net = outer;
        map->exec.strategy.data_par_net = outer;
    }
    calc_system own;
    const machine m = {calc_run_map_system(map, &entry->system, &own), entry->measured};
    if (map->exec.software[0]) {
        calc_resolve(&map->app, m.system, &map->exec);
    }
    double step_s = map->search ? search(out, &m) : try_layout(out, &m, &map->exec);
    out->predicted[CALC_QUANTITY_STEP_TIME] = step_s;
    if (!isnan(step_s)) {
        out->reason[0] = '\0';
    }
}

/* The use of a measurement, and why. A run of training that ran though it is predicted not to fit
 * is scored, one of serving is not. */
static calc_result judge(calc_result r, const calc_remarks *remarks)
{
    const calc_prediction *p = r.prediction;
    const char *reason = p ? p->reason : r.serving->reason;
    const char *misfit = p ? p->misfit : r.serving->misfit;
    const calc_remark *remark =
        calc_remarks_find(remarks, calc_result_id(&r), calc_quantity_words[r.quantity]);
    r.error = r.predicted / r.measured - 1;
    r.remark = remark ? remark->remark : "";
    if (p ? isnan(r.predicted) : !isfinite(r.error)) {
        r.use = CALC_USE_UNPREDICTED;
        r.remark = p || *reason ? reason : "nothing of this kind is predicted";
    } else if (p && calc_runs_is_oom(p->map.row)) {
        r.use = CALC_USE_UNSCORED;
        r.remark = "ran out of memory";
    } else if (strcmp(calc_result_confidence(&r), "low") == 0) {
        r.use = CALC_USE_UNSCORED;
        r.remark =
            remark ? remark->remark : "low confidence: an important field is missing or doubtful";
    } else if (remark && strcmp(remark->use, "unscored") == 0) {
        r.use = CALC_USE_UNSCORED;
    } else if (*misfit && !(p && remark)) {
        r.use = p ? CALC_USE_SCORED : CALC_USE_REFUSED;
        r.remark = misfit;
    }
    return r;
}

/* The measurements of the run that a result is of, or a result of a run without any. @return how
 * many */
static size_t pair(calc_result of, const double *measured, const double *predicted,
                   const calc_remarks *remarks, calc_result *out)
{
    calc_quantity first = of.serving ? CALC_QUANTITY_TPOT : CALC_QUANTITY_STEP_TIME;
    bool none = true;
    size_t count = 0;
    for (int q = 0; q < CALC_QUANTITY_COUNT; q++) {
        none = none && isnan(measured[q]);
    }
    for (calc_quantity q = 0; q < CALC_QUANTITY_COUNT; q++) {
        if (!isnan(measured[q]) || (none && q == first)) {
            of.quantity = q;
            of.measured = measured[q];
            of.predicted = predicted[q];
            out[count++] = judge(of, remarks);
        }
    }
    return count;
}

CALC_FREES(calc_results_free, calc_results, of->prediction, of->serving, of->item)

size_t calc_results_count(const calc_results *results, calc_use use)
{
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        count += results->item[i].use == use;
    }
    return count;
}

const char *const calc_use_words[] = {CALC_USE_LIST(CALC_WORD_OF)};

/* Whether two runs are of one sweep: alike but for their requests, of one day and source. */
static bool is_sweep(const calc_serving_map *a, const calc_serving_map *b)
{
    return calc_serving_map_alike(a, b) && strcmp(a->row->software, b->row->software) == 0 &&
           strcmp(a->row->published, b->row->published) == 0 &&
           strcmp(a->row->source, b->row->source) == 0;
}

static bool has_shape(const calc_result *r)
{
    return r->use == CALC_USE_SCORED && r->quantity == CALC_QUANTITY_TPOT &&
           (r->serving->map.kind == CALC_SERVING_KIND_CLOSED_LOOP ||
            r->serving->map.kind == CALC_SERVING_KIND_DISAGGREGATED);
}

/* The result of its sweep with the fewest requests, the first of equals. */
static const calc_result *first_of(const calc_results *results, size_t count, const calc_result *r)
{
    const calc_result *first = r;
    for (size_t i = 0; i < count; i++) {
        const calc_result *other = &results->item[i];
        double fewest = first->serving->map.requests;
        double requests = has_shape(other) ? other->serving->map.requests : fewest + 1;
        if ((requests < fewest || (requests == fewest && other < first)) &&
            is_sweep(&r->serving->map, &other->serving->map)) {
            first = other;
        }
    }
    return first;
}

static void add_shapes(calc_results *results, const calc_remarks *remarks)
{
    size_t count = results->count;
    for (size_t i = 0; i < count; i++) {
        const calc_result *r = &results->item[i];
        const calc_result *first = has_shape(r) ? first_of(results, count, r) : r;
        if (first != r && first->serving->map.requests < r->serving->map.requests) {
            calc_result *shape = &results->item[results->count++];
            *shape = judge((calc_result){.serving = r->serving,
                                         .quantity = CALC_QUANTITY_TPOT_SHAPE,
                                         .measured = r->measured / first->measured,
                                         .predicted = r->predicted / first->predicted},
                           remarks);
            shape->grown = i;
            shape->grown_from = (size_t)(first - results->item);
        }
    }
}

calc_status calc_results_make(calc_results *out, const calc_measured_runs *of, calc_errors *errors)
{
    const calc_serving_rows *serving = of->serving;
    size_t total = 0;
    for (size_t f = 0; f < of->files; f++) {
        total += serving ? serving[f].count : of->runs[f].count;
    }
    *out = (calc_results){.prediction = serving ? NULL : calc_make(total, sizeof *out->prediction),
                          .serving = serving ? calc_make(total, sizeof *out->serving) : NULL,
                          .item = calc_make(CALC_QUANTITY_COUNT * total, sizeof *out->item)};
    for (size_t f = 0; f < of->files; f++) {
        for (size_t i = 0; serving && i < serving[f].count; i++) {
            calc_serving_prediction *p = &out->serving[out->servings++];
            calc_serving_predict(p, &serving[f].row[i], of->apps, of->systems, of->engines);
            out->count += pair((calc_result){.serving = p}, p->map.measured, p->predicted,
                               of->remarks, &out->item[out->count]);
        }
        for (size_t i = 0; !serving && i < of->runs[f].count; i++) {
            calc_prediction *p = &out->prediction[out->predictions++];
            calc_predict(p, &of->runs[f].row[i], of->systems);
            out->count += pair((calc_result){.prediction = p}, p->map.measured, p->predicted,
                               of->remarks, &out->item[out->count]);
        }
    }
    add_shapes(out, of->remarks);
    calc_status failed = of->systems->failed;
    return calc_errors_status(errors, failed == CALC_OK && serving ? of->apps->failed : failed);
}

/* The model's prediction of a measured run of serving. */

/* A run of so many requests that arrive at random is simulated: it may end before its queue is what
 * it would be for ever, and more may arrive than are served. */
static calc_verdict run_or_simulate(const calc_app *app, const calc_system *system,
                                    const calc_exec *exec, calc_stats *stats)
{
    size_t bytes;
    calc_errors ignored = {0};
    bool ends = exec->inference.arrival_rate > 0 && exec->inference.requests > 0;
    void *workspace =
        ends && calc_exact_bytes(exec, &bytes, &ignored) == CALC_OK ? malloc(bytes) : NULL;
    calc_verdict verdict = workspace ? calc_run_exact(app, system, exec, workspace, stats)
                                     : calc_run(app, system, exec, CALC_COMPAT_NONE, stats);
    free(workspace);
    return verdict;
}

/* One phase. @return whether it could be computed; if not, with a reason */
static bool run(calc_serving_prediction *p, const calc_app *app, const calc_system *system,
                const calc_exec *exec, calc_stats *stats)
{
    calc_errors errors = {0};
    if (calc_check(app, system, exec, &errors) != CALC_OK) {
        snprintf(p->reason, sizeof p->reason, "%.60s: %.190s", errors.item[0].pointer,
                 errors.item[0].text);
        return false;
    }
    calc_verdict verdict = run_or_simulate(app, system, exec, stats);
    bool full = verdict == CALC_VERDICT_MEM1_CAPACITY;
    if (verdict == CALC_VERDICT_OVERLOADED) {
        snprintf(p->reason, sizeof p->reason,
                 "more requests arrive than are served: %.4g of %.4g a second",
                 stats->requests_per_s, exec->inference.arrival_rate);
        return false;
    }
    if (verdict != CALC_VERDICT_OK && !full) {
        snprintf(p->reason, sizeof p->reason, "verdict %s", calc_verdict_text(verdict));
        return false;
    }
    if (full) {
        snprintf(p->misfit, sizeof p->misfit, "does not fit: %.4g of %.4g GiB",
                 stats->proc_mem_tier1_cap_req / GIB, stats->mem_tier1_capacity / GIB);
    }
    return true;
}

/* A batch that is served by itself, or a part of one. */
typedef struct wave {
    double prompts_s, step_s, e2e_s;
    double room; /* sequences of full length that the memory holds */
} wave;

/* The prefill of `requests` prompts, and then their steps. @return whether it could be computed */
static bool run_wave(calc_serving_prediction *p, int64_t requests, wave *out)
{
    calc_exec e = p->map.exec;
    double tokens = (double)e.inference.generate_size;
    int64_t each = requests / e.strategy.data_par;
    calc_stats stats;
    e.inference.batch = e.batch_size = requests;
    e.inference.prefill_batch = each < e.inference.prefill_batch ? each : e.inference.prefill_batch;
    if (!run(p, p->app, p->system, &e, &stats)) {
        return false;
    }
    *out = (wave){stats.total_time, (double)NAN, stats.total_time, stats.max_batch};
    if (tokens > 1) {
        e.inference.phase = CALC_INFERENCE_PHASE_DECODE;
        e.inference.prefill_batch = 0;
        if (!run(p, p->app, p->system, &e, &stats)) {
            return false;
        }
        out->step_s = stats.tpot;
        out->e2e_s += (tokens - 1) * stats.tpot;
        out->room = fmin(out->room, stats.max_batch);
    }
    return true;
}

/* A batch that the memory does not hold at once runs in parts. */
static void run_parts(calc_serving_prediction *p, wave *whole)
{
    const calc_inference *i = &p->map.exec.inference;
    int64_t batch = i->batch, replicas = p->map.exec.strategy.data_par;
    /* Requests that the memory holds at a time: to their end, or at their mean length, as where
     * requests queue (serving_step.h). */
    double prompt = (double)i->prompt_size, generated = (double)i->generate_size;
    double longer = i->engine.reserves ? 1 : (prompt + generated) / (prompt + generated / 2);
    int64_t most = (int64_t)(whole->room * longer / (double)replicas) * replicas;
    wave part, rest = {0};
    if (whole->room < (double)replicas) {
        return;
    }
    if (most >= batch) {
        *p->misfit = '\0';
        return;
    }
    if (!run_wave(p, most, &part) || (batch % most > 0 && !run_wave(p, batch % most, &rest))) {
        return;
    }
    int64_t full = batch / most;
    double parts = (double)full;
    double last_s = rest.e2e_s > 0 ? 0 : part.e2e_s - part.prompts_s;
    whole->prompts_s = parts * part.e2e_s - last_s + rest.prompts_s;
    whole->e2e_s = parts * part.e2e_s + rest.e2e_s;
    whole->step_s = part.step_s;
    *p->misfit = '\0';
    calc_assumptions_add(&p->map.assumed,
                         "the batch does not fit at once: it runs in parts, one after the other");
}

static void predict_batch(calc_serving_prediction *p)
{
    wave whole;
    if (!run_wave(p, p->map.exec.inference.batch, &whole)) {
        return;
    }
    if (*p->misfit) {
        run_parts(p, &whole);
    }
    p->predicted[CALC_QUANTITY_TTFT] = whole.prompts_s;
    p->predicted[CALC_QUANTITY_TPOT] = whole.step_s;
    p->predicted[CALC_QUANTITY_E2E] = whole.e2e_s;
    p->predicted[CALC_QUANTITY_OUTPUT_RATE] =
        p->map.requests * (double)p->map.exec.inference.generate_size / whole.e2e_s;
}

static void predict_loop(calc_serving_prediction *p)
{
    calc_exec *e = &p->map.exec;
    calc_stats stats;
    bool fine = run(p, p->app, p->system, e, &stats);
    if (fine && *p->misfit && e->inference.memory_share == 0) {
        /* Some take more than the engine's default. */
        *p->misfit = '\0';
        e->inference.memory_share = 1;
        fine = run(p, p->app, p->system, e, &stats);
        calc_assumptions_add(&p->map.assumed,
                             "all of the memory: the engine's share is too little");
    }
    if (fine) {
        p->predicted[CALC_QUANTITY_TTFT] = p->map.median ? stats.ttft_p50 : stats.ttft;
        p->predicted[CALC_QUANTITY_TPOT] = stats.tpot;
        bool loop = e->inference.batch > 0;
        p->predicted[CALC_QUANTITY_OUTPUT_RATE] =
            !loop ? stats.output_tokens_per_s
                  : stats.output_tokens_per_s * p->map.requests / (double)e->inference.batch;
    }
}

static void predict_mapped(calc_serving_prediction *p)
{
    calc_quantities_none(p->predicted);
    if (p->map.kind == CALC_SERVING_KIND_STATIC_BATCH) {
        predict_batch(p);
    } else {
        predict_loop(p);
    }
}

void calc_serving_predict_with(calc_serving_prediction *p, const calc_engine_traits *traits)
{
    p->map.exec.inference.traits = *traits;
    predict_mapped(p);
}

void calc_serving_predict(calc_serving_prediction *out, const calc_serving_row *row,
                          calc_documents *apps, calc_documents *systems,
                          const calc_serving_engines *engines)
{
    *out = (calc_serving_prediction){0};
    calc_quantities_none(out->predicted);
    calc_serving_map *map = &out->map;
    const calc_document *model = calc_documents_get(apps, row->app);
    const calc_document *on = calc_documents_get(systems, row->sys);
    const calc_app *app = model->fine ? &model->app : NULL;
    const calc_system *system = on->fine ? &on->system : NULL;
    calc_serving_map_row(map, row, app, system, engines);
    map->reason = map->reason ? map->reason
                  : !app      ? "no description of this model"
                  : !system   ? "no description of this machine"
                              : NULL;
    if (map->reason) {
        snprintf(out->reason, sizeof out->reason, "%s", map->reason);
    } else {
        out->app = app;
        out->system = system;
        predict_mapped(out);
    }
}

typedef struct unseen {
    const char *engine;
    double error;
} unseen;

static const calc_csv_column unseen_columns[] = {
    {.name = "engine", CALC_CSV_MEMBER(unseen, engine)},
    {.name = "error", CALC_CSV_MEMBER(unseen, error), .lo = -1, .hi = 1e9}};

/* The logarithms of the runs of an engine, in order; NULL: of all. */
static size_t collect(double *off, const calc_csv_rows *rows, const char *engine)
{
    const unseen *row = rows->item;
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (!engine || strcmp(row[i].engine, engine) == 0) {
            off[count++] = fabs(log1p(row[i].error));
        }
    }
    CALC_SORT(off, count, calc_order_numbers);
    return count;
}

calc_status calc_serving_reach_read(calc_serving_reach *out, const char *engine, const char *path,
                                    calc_errors *errors)
{
    static const char hint[] = "scripts/refit_engines.py writes such files";
    static const calc_csv_table unseen_table = CALC_CSV_TABLE(unseen_columns, unseen, hint);
    calc_csv_rows rows = {0};
    *out = (calc_serving_reach){.reach = NAN};
    calc_status status = calc_csv_table_read(&rows, &unseen_table, path, errors);
    double *off = calc_make(rows.count, sizeof *off);
    if (status == CALC_OK) {
        out->runs = collect(off, &rows, engine);
        out->own = out->runs >= CALC_SERVING_REACH_RUNS;
        out->runs = out->own ? out->runs : collect(off, &rows, NULL);
        size_t at = (size_t)ceil(0.9 * (double)(out->runs + 1)); /* from 1, and one run more */
        out->reach = at <= out->runs ? off[at - 1] : NAN;
    }
    free(off);
    calc_csv_rows_free(&rows);
    return status;
}
