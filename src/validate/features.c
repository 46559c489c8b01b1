#include "validate/features.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "validate/own_runs.h"
#include "validate/run_arguments.h"
#include "validate/spread.h"

/* ---- Options --------------------------------------------------------------------------------- */

/* Biases and the kind of positions are none: less than a thousandth of these runs' memory. */

/* Where an option's value is: a column of numbers (blank: `blank`), one of text, a word of
 * model_notes, or an option of the command line. */
typedef enum place { NUMBER, TEXT, WORD, ARGUMENT } place;

typedef struct feature {
    const char *name;
    bool work; /* the workload, not its layout */
    place place;
    size_t offset;    /* of the column */
    double blank;     /* of NUMBER */
    const char *word; /* of WORD and ARGUMENT */
} feature;

#define COLUMN(name) offsetof(calc_runs_row, name)

static const feature options[] = {
    {"tensor parallelism", false, NUMBER, COLUMN(tp), 1, NULL},
    {"pipeline parallelism", false, NUMBER, COLUMN(pp), 1, NULL},
    {"interleaved chunks", false, TEXT, COLUMN(vpp), 0, NULL},
    {"uneven stages", false, ARGUMENT, 0, 0, "decoder-first-pipeline-num-layers"},
    {"context parallelism", false, NUMBER, COLUMN(cp), 1, NULL},
    {"expert parallelism", false, NUMBER, COLUMN(ep), 1, NULL},
    {"expert tensor parallelism", false, NUMBER, COLUMN(etp), 0, NULL},
    {"data parallelism", true, NUMBER, COLUMN(num_gpus), 0, NULL},
    {"sequence parallelism", false, NUMBER, COLUMN(sequence_parallel), 0, NULL},
    {"sharded optimizer, weights", false, TEXT, COLUMN(zero_stage_fsdp), 0, NULL},
    {"optimizer instances", false, ARGUMENT, 0, 0, "num-distributed-optimizer-instances"},
    {"recomputation", false, TEXT, COLUMN(recompute), 0, NULL},
    {"flash attention", false, NUMBER, COLUMN(flash_attention), 1, NULL},
    {"overlap", false, TEXT, COLUMN(overlap), 0, NULL},
    {"number format", false, TEXT, COLUMN(dtype), 0, NULL},
    {"micro-batch", false, NUMBER, COLUMN(micro_batch), 0, NULL},
    {"micro-batches", true, NUMBER, COLUMN(global_batch), 0, NULL},
    {"sequence length", true, NUMBER, COLUMN(seq), 0, NULL},
    {"blocks", true, NUMBER, COLUMN(layers), 0, NULL},
    {"experts", true, NUMBER, COLUMN(num_experts), 0, NULL},
    {"experts per token", true, NUMBER, COLUMN(topk), 0, NULL},
    {"shared expert", true, ARGUMENT, 0, 0, "moe-shared-expert-intermediate-size"},
    {"grouped experts", false, ARGUMENT, 0, 0, "moe-grouped-gemm"},
    {"routing", true, ARGUMENT, 0, 0, "moe-router-load-balancing-type"},
    {"dropout", true, ARGUMENT, 0, 0, "hidden-dropout"},
    {"native fused loss", false, ARGUMENT, 0, 0, "cross-entropy-loss-fusion"},
    {"query and key norm", true, ARGUMENT, 0, 0, "qk-layernorm"},
    {"attention mask not made", false, ARGUMENT, 0, 0, "no-create-attention-mask-in-dataloader"},
    {"deterministic kernels", false, ARGUMENT, 0, 0, "deterministic-mode"},
    {"transformer implementation", false, ARGUMENT, 0, 0, "transformer-impl"},
    {"gated feed-forward", true, WORD, 0, 0, "SwiGLU"},
    {"untied embeddings", true, WORD, 0, 0, "untied=True"}};

enum { OPTIONS = sizeof options / sizeof *options };

static double number_of(const feature *o, const calc_runs_row *row)
{
    double value;
    memcpy(&value, (const char *)row + o->offset, sizeof value);
    return isnan(value) ? o->blank : value;
}

static const char *text_of(const feature *o, const calc_runs_row *row)
{
    const char *text;
    memcpy(&text, (const char *)row + o->offset, sizeof text);
    return text;
}

/* Whether both command lines give an option the same value, or both do not give it. */
static bool same_argument(const feature *o, const calc_runs_row *a, const calc_runs_row *b)
{
    const char *left = calc_run_argument(a->arguments, o->word);
    const char *right = calc_run_argument(b->arguments, o->word);
    if (!left || !right) {
        return left == right;
    }
    size_t length = strcspn(left, " ");
    return length == strcspn(right, " ") && strncmp(left, right, length) == 0;
}

static bool same(const feature *o, const calc_runs_row *a, const calc_runs_row *b)
{
    switch (o->place) {
    case NUMBER:
        return number_of(o, a) == number_of(o, b);
    case TEXT:
        return strcmp(text_of(o, a), text_of(o, b)) == 0;
    case WORD:
        return calc_runs_has(a->model_notes, o->word) == calc_runs_has(b->model_notes, o->word);
    default:
        return same_argument(o, a, b);
    }
}

/* ---- Cells and pairs ------------------------------------------------------------------------- */

/* The source of a row, up to remarks in parentheses, names the release, too. */
static bool same_release(const char *a, const char *b)
{
    size_t length = strcspn(a, "(");
    return length == strcspn(b, "(") && strncmp(a, b, length) == 0;
}

/* Runs of one source and release, on one machine, of models of one shape. */
static bool comparable(const calc_result *a, const calc_result *b)
{
    const calc_run_map *left = &a->prediction->map;
    const calc_run_map *right = &b->prediction->map;
    const calc_app *x = &left->app;
    const calc_app *y = &right->app;
    /* Fields set by an own row are in none of these columns. */
    bool columns = !left->row->own || !left->row->own->complete;
    return columns && left->source == right->source &&
           same_release(left->row->source, right->row->source) && left->machine == right->machine &&
           x->hidden == y->hidden && x->feedforward == y->feedforward &&
           x->attn_heads == y->attn_heads && x->kv_heads == y->kv_heads &&
           x->kv_lora_rank == y->kv_lora_rank && x->expert_feedforward == y->expert_feedforward &&
           x->mtp_blocks == y->mtp_blocks;
}

/* How many options differ, up to two; *which is the last of them. */
static int differing(const calc_result *a, const calc_result *b, size_t *which)
{
    int count = 0;
    for (size_t i = 0; i < OPTIONS && count < 2; i++) {
        if (!same(&options[i], a->prediction->map.row, b->prediction->map.row)) {
            *which = i;
            count++;
        }
    }
    return count;
}

static bool is_cell_of(const calc_features_cell *cell, const calc_result *r)
{
    size_t which;
    assert(cell->first);
    return comparable(cell->first, r) && differing(cell->first, r, &which) == 0;
}

static void add_to_cell(calc_features *f, const calc_result *r)
{
    size_t i = 0;
    while (i < f->cells && !is_cell_of(&f->cell[i], r)) {
        i++;
    }
    calc_features_cell *cell = &f->cell[i];
    if (i == f->cells) {
        f->cells++;
        *cell = (calc_features_cell){.first = r};
    }
    cell->runs++;
    double share = 1 / (double)cell->runs;
    cell->measured += share * (r->measured - cell->measured);
    cell->predicted += share * (r->predicted - cell->predicted);
}

/* A pair goes from the larger to the smaller measurement, whatever the order of the runs. */
static calc_features_pair pair_of(const calc_features *f, size_t option, size_t a, size_t b)
{
    bool falls = f->cell[a].measured >= f->cell[b].measured;
    const calc_features_cell *from = &f->cell[falls ? a : b];
    const calc_features_cell *to = &f->cell[falls ? b : a];
    return (calc_features_pair){
        .option = option,
        .from = falls ? a : b,
        .to = falls ? b : a,
        .measured = to->measured / from->measured - 1,
        .predicted = to->predicted / from->predicted - 1,
        .measured_less = to->measured - from->measured,
        .predicted_less = to->predicted - from->predicted,
    };
}

static bool find_pairs(calc_features *f)
{
    size_t capacity = 0;
    for (size_t a = 0; a < f->cells; a++) {
        for (size_t b = a + 1; b < f->cells; b++) {
            size_t option;
            assert(f->cell[a].first && f->cell[b].first); /* every cell has a run */
            if (!comparable(f->cell[a].first, f->cell[b].first) ||
                differing(f->cell[a].first, f->cell[b].first, &option) != 1 ||
                (f->quantity == CALC_QUANTITY_STEP_TIME && options[option].work)) {
                continue;
            }
            calc_features_pair *grown = calc_grown(f->pair, f->pairs, &capacity, sizeof *grown);
            if (!grown) {
                return false;
            }
            f->pair = grown;
            f->pair[f->pairs++] = pair_of(f, option, a, b);
        }
    }
    return true;
}

/* ---- Statistics ------------------------------------------------------------------------------ */

static bool moves(const calc_features *f, double change)
{
    return fabs(change) > f->still;
}

/* Kendall's tau of predicted and measured changes; those that are measured alike do not count. */
static double tau_of(const calc_features *f, size_t option)
{
    double score = 0;
    size_t count = 0;
    for (size_t i = 0; i < f->pairs; i++) {
        for (size_t j = i + 1; j < f->pairs; j++) {
            const calc_features_pair *a = &f->pair[i];
            const calc_features_pair *b = &f->pair[j];
            double measured = a->measured - b->measured;
            if (a->option != option || b->option != option || !moves(f, measured)) {
                continue;
            }
            double predicted = a->predicted - b->predicted;
            score += predicted == 0 ? 0 : (measured > 0) == (predicted > 0) ? 1 : -1;
            count++;
        }
    }
    return count > 0 ? score / (double)count : (double)NAN;
}

static void count_pair(calc_features_option *o, const calc_features *f, size_t index, double *ratio)
{
    const calc_features_pair *p = &f->pair[index];
    if (!moves(f, p->measured)) {
        o->still++;
        o->stayed += !moves(f, p->predicted);
        return;
    }
    ratio[o->moved++] = p->predicted_less / p->measured_less;
    bool agrees = p->predicted < 0; /* as the measured one does */
    o->regret += agrees ? 0 : 1 / (1 + p->measured) - 1;
    o->agreed += agrees;
    o->missed += !agrees && !moves(f, p->predicted);
    if (!agrees && (!o->has_wrong || p->measured < f->pair[o->wrong].measured)) {
        o->wrong = index;
        o->has_wrong = true;
    }
}

/* Sums become means. */
static void finish(calc_features_option *o, const calc_features *f, double *ratio)
{
    bool time = f->quantity == CALC_QUANTITY_STEP_TIME;
    calc_spread_sort(ratio, o->moved);
    o->ratio = calc_spread_quantile(ratio, o->moved, 0.5);
    o->tau = (double)NAN;
    o->regret = time && o->moved > 0 ? o->regret / (double)o->moved : (double)NAN;
}

static void judge_option(calc_features *f, size_t option, double *ratio)
{
    calc_features_option o = {.name = options[option].name};
    for (size_t i = 0; i < f->pairs; i++) {
        if (f->pair[i].option == option) {
            count_pair(&o, f, i, ratio);
        }
    }
    if (o.moved + o.still > 0) {
        finish(&o, f, ratio);
        o.tau = f->quantity == CALC_QUANTITY_MEMORY ? tau_of(f, option) : o.tau;
        f->option[f->options++] = o;
    }
}

static const char *family_of(const calc_features *f, const calc_features_pair *p)
{
    return f->cell[p->from].first->prediction->map.machine->family;
}

/* All options on the machines of a family, which the pair at `first` is of, unless they are there.
 */
static void judge_family(calc_features *f, size_t first, double *ratio)
{
    calc_features_option o = {.name = family_of(f, &f->pair[first])};
    size_t known = 0;
    while (known < f->families && strcmp(f->family[known].name, o.name) != 0) {
        known++;
    }
    if (known < f->families || known == CALC_FEATURES_FAMILIES) {
        return;
    }
    for (size_t i = first; i < f->pairs; i++) {
        if (strcmp(family_of(f, &f->pair[i]), o.name) == 0) {
            count_pair(&o, f, i, ratio);
        }
    }
    finish(&o, f, ratio);
    f->family[f->families++] = o;
}

static bool make(calc_features *out, const calc_results *results, calc_quantity quantity)
{
    bool memory = quantity == CALC_QUANTITY_MEMORY;
    *out = (calc_features){.quantity = quantity,
                           .still = memory ? CALC_FEATURES_STILL : CALC_FEATURES_STILL_TIME};
    out->cell = calloc(results->count + 1, sizeof *out->cell);
    out->option = calloc(OPTIONS, sizeof *out->option);
    if (!out->cell || !out->option) {
        return false;
    }
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        if (r->quantity == quantity && r->use == CALC_USE_SCORED) {
            add_to_cell(out, r);
        }
    }
    double *ratio = find_pairs(out) ? calloc(out->pairs + 1, sizeof *ratio) : NULL;
    for (size_t i = 0; ratio && i < OPTIONS; i++) {
        judge_option(out, i, ratio);
    }
    for (size_t i = 0; ratio && i < out->pairs; i++) {
        judge_family(out, i, ratio);
    }
    free(ratio);
    return ratio != NULL;
}

calc_status calc_features_make(calc_features *out, const calc_results *results,
                               calc_quantity quantity, calc_errors *errors)
{
    if (make(out, results, quantity)) {
        return CALC_OK;
    }
    calc_features_free(out);
    return calc_errors_no_memory(errors);
}

void calc_features_free(calc_features *features)
{
    free(features->cell);
    free(features->pair);
    free(features->option);
    *features = (calc_features){0};
}
