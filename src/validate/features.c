#include "validate/features.h"

#include <assert.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/make.h"
#include "io/csv_table.h"
#include "spec/field.h"
#include "validate/error_groups.h"

/* Biases and the kind of positions are none: less than a thousandth of these runs' memory. */

/* An option: fields in which layouts that differ in it differ. They count where a group has
 * several ranks in both layouts: overlap follows from having something to overlap. Rows of one name
 * are one option. */
static const struct {
    const char *name;
    bool work;          /* the workload, not its layout */
    const char *fields; /* blanks between them */
    const char *among;  /* the size of that group; NULL: they always count */
} options[] = {
    {"tensor parallelism", false, "tensor_par", NULL},
    {"pipeline parallelism", false, "pipeline_par", NULL},
    {"interleaved chunks", false, "pipeline_interleaving", "pipeline_par"},
    {"uneven stages", false, "first_stage_blocks last_stage_blocks", "pipeline_par"},
    {"context parallelism", false, "context_par", NULL},
    {"context parallelism", false, "context_par_type", "context_par"},
    {"expert parallelism", false, "expert_par", NULL},
    {"expert tensor parallelism", false, "expert_tensor_par", "tensor_par"},
    {"data parallelism", true, "num_procs", NULL},
    {"sequence parallelism", false, "tensor_par_comm_type", "tensor_par"},
    {"sharded optimizer, weights", false, "zero_stage fsdp_par optimizer_shards", "data_par"},
    {"optimizer", true, "optimizer", NULL},
    {"recomputation", false, "activation_recompute recompute_modules recompute_blocks", NULL},
    {"offload", false, "activations_offload optimizer_offload offload_modules", NULL},
    {"flash attention", false, "flash_attention", NULL},
    {"overlap", false, "dispatch_type expert_par_overlap delayed_wgrad", "expert_par"},
    {"overlap", false, "tensor_par_overlap", "tensor_par"},
    {"overlap", false, "data_par_overlap param_gather_overlap grad_reduce_datatype", "data_par"},
    {"overlap", false, "pipeline_par_overlap deferred_head_wgrad", "pipeline_par"},
    {"overlap", false, "cuda_graph fused_experts attention_datatype eager launch_blocking", NULL},
    {"number format", false, "datatype matrix_datatype scaling", NULL},
    {"micro-batch", false, "microbatch_size", NULL},
    {"micro-batches", true, "batch_size", NULL},
    {"sequence length", true, "app.seq_size", NULL},
    {"blocks", true, "num_blocks", NULL},
    {"experts", true, "num_experts", NULL},
    {"experts per token", true, "experts_per_token", NULL},
    {"shared expert", true, "shared_feedforward", NULL},
    {"dropout", true, "dropout", NULL},
    {"fused loss", false, "fused_cross_entropy framework_mem", NULL},
    {"query and key norm", true, "qk_norm", NULL},
    {"gated feed-forward", true, "ffn_type", NULL},
    {"untied embeddings", true, "tied_embeddings", NULL}};

enum { OPTIONS = sizeof options / sizeof *options, PARTS = 64 };

/* Other options: those that calc does not model. */
static const char unmodelled[] = "options that are not modelled";

/* The fields one after the other, found by name once. */
typedef struct part {
    size_t option;
    calc_field_ref field, among; /* .field NULL: it always counts */
} part;

typedef struct parts {
    part item[PARTS];
    size_t count;
} parts;

static calc_field_ref find(const char *path)
{
    calc_field_ref ref = {0};
    calc_kind only = calc_kind_split(&path, CALC_KIND_EXEC);
    bool found =
        (only != CALC_KIND_APP && calc_field_find(CALC_KIND_EXEC, path, &ref) == CALC_OK) ||
        calc_field_find(CALC_KIND_APP, path, &ref) == CALC_OK;
    assert(found);
    (void)found;
    return ref;
}

static void find_parts(parts *p)
{
    p->count = 0;
    for (size_t i = 0; i < OPTIONS; i++) {
        const char *at = options[i].fields;
        while (*at && p->count < PARTS) {
            char name[64];
            size_t length = strcspn(at, " ");
            snprintf(name, sizeof name, "%.*s", (int)length, at);
            p->item[p->count] = (part){.option = i, .field = find(name)};
            if (options[i].among) {
                p->item[p->count].among = find(options[i].among);
            }
            p->count++;
            at += length + (at[length] == ' ');
        }
    }
}

static double number_of(const calc_field_ref *ref, const calc_result *r)
{
    const calc_run_documents *d = r->prediction->map.row->document;
    const char *object =
        ref->kind == CALC_KIND_APP ? (const char *)&d->app : (const char *)&d->exec;
    return calc_member_number(ref->field, object + ref->offset);
}

/* Name of the option of an index: one of those that are not modelled is behind the last. */
static const char *name_of(size_t option)
{
    return option < OPTIONS ? options[option].name : unmodelled;
}

/* Runs of one source and release, on one machine, of models of one shape. */
static bool comparable(const calc_result *a, const calc_result *b)
{
    const calc_runs_row *left = a->prediction->map.row;
    const calc_runs_row *right = b->prediction->map.row;
    const calc_app *x = &left->document->app;
    const calc_app *y = &right->document->app;
    return x->hidden == y->hidden && x->feedforward == y->feedforward &&
           x->attn_heads == y->attn_heads && x->kv_heads == y->kv_heads &&
           x->kv_lora_rank == y->kv_lora_rank && x->expert_feedforward == y->expert_feedforward &&
           x->mtp_blocks == y->mtp_blocks && strcmp(left->source, right->source) == 0 &&
           strcmp(left->release, right->release) == 0 && strcmp(left->sys, right->sys) == 0;
}

/* How many options differ, up to two; *which is the last of them. */
static int differing(const parts *p, const calc_result *a, const calc_result *b, size_t *which)
{
    int count = strcmp(a->prediction->map.row->unmodelled, b->prediction->map.row->unmodelled) != 0;
    *which = OPTIONS;
    for (size_t i = 0; i < p->count && count < 2; i++) {
        const calc_field_ref *field = &p->item[i].field, *among = &p->item[i].among;
        bool matters = !among->field || (number_of(among, a) > 1 && number_of(among, b) > 1);
        if (matters && number_of(field, a) != number_of(field, b)) {
            size_t option = p->item[i].option;
            count += count == 0 || strcmp(name_of(option), name_of(*which)) != 0;
            *which = option;
        }
    }
    return count;
}

static void add_to_cell(calc_features *f, const parts *p, const calc_result *r)
{
    size_t i = 0, which;
    for (; i < f->cells; i++) {
        const calc_result *first = f->cell[i].first;
        assert(first); /* every cell has a run */
        if (comparable(first, r) && differing(p, first, r, &which) == 0) {
            break;
        }
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

static void find_pairs(calc_features *f, const parts *p)
{
    for (size_t a = 0; a < f->cells; a++) {
        for (size_t b = a + 1; b < f->cells; b++) {
            size_t option;
            assert(f->cell[a].first && f->cell[b].first); /* every cell has a run */
            if (!comparable(f->cell[a].first, f->cell[b].first) ||
                differing(p, f->cell[a].first, f->cell[b].first, &option) != 1 ||
                (f->quantity == CALC_QUANTITY_STEP_TIME && option < OPTIONS &&
                 options[option].work)) {
                continue;
            }
            f->pair = calc_longer(f->pair, f->pairs + 1, sizeof *f->pair);
            f->pair[f->pairs++] = pair_of(f, option, a, b);
        }
    }
}

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
            if (strcmp(name_of(a->option), name_of(option)) != 0 ||
                strcmp(name_of(b->option), name_of(option)) != 0 || !moves(f, measured)) {
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

static const char *option_of(const calc_features *f, const calc_features_pair *p)
{
    (void)f;
    return name_of(p->option);
}

static const char *family_of(const calc_features *f, const calc_features_pair *p)
{
    return f->cell[p->from].first->prediction->map.row->family;
}

static const char *all_of(const calc_features *f, const calc_features_pair *p)
{
    (void)f;
    (void)p;
    return "all";
}

/* The pairs that have a name. */
static calc_features_option judge(const calc_features *f, const char *name, double *ratio,
                                  const char *(*of)(const calc_features *f,
                                                    const calc_features_pair *p))
{
    calc_features_option o = {.name = name};
    for (size_t i = 0; i < f->pairs; i++) {
        if (strcmp(of(f, &f->pair[i]), name) == 0) {
            count_pair(&o, f, i, ratio);
        }
    }
    bool time = f->quantity == CALC_QUANTITY_STEP_TIME;
    CALC_SORT(ratio, o.moved, calc_order_numbers);
    o.ratio = calc_spread_quantile(ratio, o.moved, 0.5);
    o.tau = (double)NAN;
    o.regret = time && o.moved > 0 ? o.regret / (double)o.moved : (double)NAN; /* the mean */
    return o;
}

/* Whether a list has an option of that name. */
static bool is_in(const calc_features_option *list, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(list[i].name, name) != 0) {
        i++;
    }
    return i < count;
}

void calc_features_make(calc_features *out, const calc_results *results, calc_quantity quantity)
{
    bool memory = quantity == CALC_QUANTITY_MEMORY;
    parts p;
    *out = (calc_features){.quantity = quantity,
                           .still = memory ? CALC_FEATURES_STILL : CALC_FEATURES_STILL_TIME,
                           .cell = calc_make(results->count, sizeof *out->cell),
                           .option = calc_make(OPTIONS + 1, sizeof *out->option)};
    find_parts(&p);
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        if (r->quantity == quantity && r->use == CALC_USE_SCORED) {
            add_to_cell(out, &p, r);
        }
    }
    find_pairs(out, &p);
    double *ratio = calc_make(out->pairs, sizeof *ratio);
    for (size_t i = 0; i <= OPTIONS; i++) { /* rows of one name are one option */
        calc_features_option o = judge(out, name_of(i), ratio, option_of);
        if (o.moved + o.still > 0 && !is_in(out->option, out->options, o.name)) {
            o.tau = memory ? tau_of(out, i) : o.tau;
            out->option[out->options++] = o;
        }
    }
    for (size_t i = 0; i < out->pairs && out->families < CALC_FEATURES_FAMILIES; i++) {
        const char *name = family_of(out, &out->pair[i]);
        if (!is_in(out->family, out->families, name)) {
            out->family[out->families++] = judge(out, name, ratio, family_of);
        }
    }
    out->all = judge(out, "all", ratio, all_of);
    out->all.ratio = (double)NAN;
    free(ratio);
}

CALC_FREES(calc_features_free, calc_features, of->cell, of->pair, of->option)

/* One row of the file. */
typedef struct entry {
    const char *simulator, *machine, *runs, *note;
    calc_quantity quantity;
    double rows, error_percent, worst_percent; /* NaN: blank */
} entry;

static const calc_csv_column columns[] = {
    CALC_CSV_COLUMN_NEEDED_TEXT(entry, simulator, NULL),
    CALC_CSV_COLUMN_NEEDED_TEXT(entry, machine, NULL),
    CALC_CSV_COLUMN(entry, quantity, 0, NULL, .words = calc_quantity_words),
    CALC_CSV_COLUMN_NEEDED_TEXT(entry, runs, NULL),
    CALC_CSV_COLUMN_NEEDED_NUMBER(entry, rows, NULL),
    CALC_CSV_COLUMN(entry, error_percent, CALC_CSV_BLANK, NULL),
    CALC_CSV_COLUMN(entry, worst_percent, CALC_CSV_BLANK, NULL),
    CALC_CSV_COLUMN_NEEDED_TEXT(entry, note, NULL)};

static const calc_csv_table table = CALC_CSV_TABLE(columns, entry, NULL);

static bool is_of(const entry *e, const calc_peer *p)
{
    return strcmp(p->simulator, e->simulator) == 0 && strcmp(p->machine, e->machine) == 0 &&
           p->quantity == e->quantity;
}

/* The peer that a row belongs to, which may be new; there is room for it. */
static calc_peer *peer_of(calc_peers *peers, const entry *e)
{
    for (size_t i = 0; i < peers->count; i++) {
        if (is_of(e, &peers->item[i])) {
            return &peers->item[i];
        }
    }
    calc_peer *p = &peers->item[peers->count++];
    *p = (calc_peer){.simulator = e->simulator,
                     .machine = e->machine,
                     .quantity = e->quantity,
                     .mean_abs = (double)NAN,
                     .worst_abs = (double)NAN};
    return p;
}

/* Single rows give their worst; an average alone does not. */
static void add(calc_peer *p, const entry *e)
{
    double error = fabs(e->error_percent) / 100;
    size_t rows = e->rows > 0 ? (size_t)e->rows : 0;
    double before = p->rows > 0 ? p->mean_abs * (double)p->rows : 0;
    p->rows += rows;
    p->mean_abs = rows > 0 ? (before + error * (double)rows) / (double)p->rows : error;
    p->worst_abs = fmax(p->worst_abs, rows == 1 ? error : fabs(e->worst_percent) / 100);
    p->note = e->note;
    p->listed += *e->runs ? rows : 0;
}

/* calc's errors on the runs that the rows of a peer name; `error` has room for all results. */
static calc_spread find_ours(const calc_results *results, const calc_peer *p, const entry *e,
                             size_t entries, double *error)
{
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        bool found = false;
        for (size_t k = 0; k < entries && !found && r->quantity == p->quantity; k++) {
            found = *e[k].runs && is_of(&e[k], p) && fnmatch(e[k].runs, calc_result_id(r), 0) == 0;
        }
        if (found && isfinite(r->error)) {
            error[count++] = r->error;
        }
    }
    return calc_spread_of(error, count);
}

calc_status calc_peers_read(calc_peers *out, const char *path, const calc_results *results,
                            calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    const entry *entries = rows.item;
    double *error = calc_make(results->count, sizeof *error);
    *out = (calc_peers){.item = calc_make(rows.count, sizeof *out->item), .text = rows.text};
    for (size_t i = 0; status == CALC_OK && i < rows.count; i++) {
        size_t k = 0;
        while (k < results->count && results->item[k].quantity != entries[i].quantity) {
            k++;
        }
        if (k < results->count) {
            add(peer_of(out, &entries[i]), &entries[i]);
        }
    }
    for (size_t i = 0; i < out->count; i++) {
        out->item[i].ours = find_ours(results, &out->item[i], entries, rows.count, error);
    }
    free(rows.item);
    free(error);
    return status;
}

CALC_FREES(calc_peers_free, calc_peers, of->item, of->text.data)
