#include "serve.h"

#include <stdlib.h>

#include "model/run.h"
#include "model/serve/inference.h"

/* Passes that are kept: about 4 MB of them. */
enum { PASSES = 1 << 13 };

/* What the layouts of a row have in common. */
typedef struct served_row {
    bool known;
    calc_inference_pass_model model, pool;
} served_row;

/* What layouts of a row in a cell differ in, as far as it changes anything: networks of replicas,
 * and what overlaps with gathering weights, only where weights are gathered or caches sent. */
typedef struct place {
    bool known;
    int64_t pipeline_net, chunks, overlap; /* of the pipeline */
    int64_t data_net, reduce, gather;
} place;

struct calc_serve {
    const calc_app *app;
    const calc_system *system;
    size_t capacity;
    served_row *row;
    uint64_t numbered; /* models so far */
    calc_pass_memo memo;
    calc_serving serving; /* its models are those of the row at hand */
    calc_stats stats;     /* the same ones are written for every layout, null the others */
    place last;           /* where these are those of */
};

calc_serve *calc_serve_create(void)
{
    calc_serve *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->memo.count = PASSES;
    s->memo.entry = calloc(PASSES, sizeof *s->memo.entry);
    if (!s->memo.entry) {
        calc_serve_free(s);
        return NULL;
    }
    calc_stats_none(&s->stats);
    return s;
}

void calc_serve_free(calc_serve *s)
{
    if (s) {
        free(s->memo.entry);
        free(s->row);
        free(s);
    }
}

calc_status calc_serve_rows(calc_serve *s, const calc_app *app, const calc_system *system,
                            size_t rows)
{
    s->app = app;
    s->system = system;
    if (rows > s->capacity) {
        free(s->row);
        s->row = malloc(rows * sizeof *s->row);
        s->capacity = s->row ? rows : 0;
    }
    for (size_t i = 0; i < s->capacity && i < rows; i++) {
        s->row[i].known = false;
    }
    return rows <= s->capacity ? CALC_OK : CALC_ERR_NOMEM;
}

/* A model that keeps its passes under a number of its own. */
static void number(calc_serve *s, calc_inference_pass_model *m)
{
    m->memo = &s->memo;
    m->number = ++s->numbered;
}

void calc_serve_row(calc_serve *s, size_t index, const calc_exec *exec)
{
    served_row *row = &s->row[index];
    if (!row->known) {
        calc_serving_init(&s->serving, s->app, s->system, exec);
        row->known = true;
        row->model = s->serving.model;
        row->pool = s->serving.pool;
        number(s, &row->model);
        number(s, &row->pool);
    }
    calc_inference_pass_model_take(&s->serving.model, &row->model);
    calc_inference_pass_model_take(&s->serving.pool, &row->pool);
    s->last.known = false;
}

static place place_of(const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    place p = {.known = true, .chunks = e->pipeline_interleaving};
    if (e->pipeline_par > 1) {
        p.pipeline_net = e->pipeline_par_net;
        p.overlap = s->pipeline_par_overlap;
    }
    if (calc_zero_stage(s) >= 3 || e->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        p.data_net = s->data_par_net;
        p.reduce = s->data_par_overlap;
        p.gather = s->param_gather_overlap;
    }
    return p;
}

static bool same(const place *a, const place *b)
{
    return a->known && a->pipeline_net == b->pipeline_net && a->chunks == b->chunks &&
           a->overlap == b->overlap && a->data_net == b->data_net && a->reduce == b->reduce &&
           a->gather == b->gather;
}

calc_verdict calc_serve_run(calc_serve *s, const calc_exec *exec, const calc_stats **stats)
{
    place here = place_of(exec);
    *stats = &s->stats;
    if (same(&s->last, &here)) {
        return s->stats.verdict;
    }
    s->last = here;
    calc_serving_at(&s->serving, exec);
    if (calc_serving_put_memory(&s->serving, &s->stats) == CALC_VERDICT_OK) {
        calc_serving_put(&s->serving, &s->stats);
    }
    return s->stats.verdict;
}
