#include "galvatron/synthesis.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "galvatron/profiles.h"
#include "io/json_put.h"
#include "io/text.h"
#include "model/operators/processor.h"
#include "model/stages/layout.h"
#include "spec/absent.h"

static const double MB = 1048576;
/* Message sizes for bandwidths: gradients are large messages, activations smaller ones. */
static const double ALLREDUCE_MB = 512, P2P_MB = 32;

static void exec_of(const calc_galvatron_synthesis *s, const calc_galvatron_run *run, calc_exec *e)
{
    static const calc_datatype datatypes[] = {CALC_DATATYPE_FLOAT32, CALC_DATATYPE_FLOAT16,
                                              CALC_DATATYPE_BFLOAT16};
    bool grouped = s->app->kv_heads > 0 && s->app->kv_heads < s->app->attn_heads;
    bool split = run->tensor_par > 1 && run->sequence_par;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), e);
    e->pipeline_par = run->stages ? 2 : 1;
    e->num_procs = run->tensor_par * e->pipeline_par;
    e->pipeline_interleaving = 1;
    e->batch_size = run->batch * e->pipeline_par;
    e->microbatch_size = run->batch;
    e->seq_size = run->sequence;
    e->training = true;
    e->rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    calc_strategy *strategy = &e->strategy;
    strategy->tensor_par = run->tensor_par;
    strategy->data_par = 1;
    strategy->datatype = datatypes[s->request->mixed_precision];
    strategy->fused_activation = true;
    strategy->flash_attention = true;
    strategy->attention_type =
        grouped ? CALC_ATTENTION_TYPE_GROUPED_QUERY : CALC_ATTENTION_TYPE_MULTIHEAD;
    strategy->activation_recompute =
        run->checkpoint ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_ACTIVATION_RECOMPUTE_NONE;
    strategy->tensor_par_comm_type =
        split ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG : CALC_TENSOR_PAR_COMM_TYPE_AR;
    strategy->memory_model = CALC_MEMORY_MODEL_MEGATRON;
}

calc_status calc_galvatron_synthesis_check(const calc_galvatron_synthesis *s, calc_errors *errors)
{
    const calc_galvatron_request *request = s->request;
    calc_galvatron_run run = {.tensor_par = 1, .batch = 1, .sequence = request->layers[0].seq_len};
    calc_exec exec;
    if (request->types != 1) {
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                               "%d types of layers, expected 1: models of calc have no more",
                               request->types);
    }
    calc_status status = calc_galvatron_world_check(request, errors);
    if (status != CALC_OK) {
        return status;
    }
    exec_of(s, &run, &exec);
    exec.num_procs = calc_galvatron_world(request);
    exec.strategy.data_par = exec.num_procs;
    exec.batch_size = exec.num_procs;
    return calc_check(s->app, s->system, &exec, errors);
}

static double mean(const double of[CALC_STAGE_KINDS], double experts)
{
    return of[0] + (of[1] - of[0]) * experts;
}

/* Measures the mean layer, and the ends. */
static void take(const calc_layout *l, const calc_galvatron_run *run, calc_galvatron_measured *out)
{
    const calc_stage_terms *t = &l->terms;
    double experts = l->shape.moe_blocks / l->shape.blocks;
    double s[CALC_STAGE_KINDS], elements[CALC_STAGE_KINDS], bytes[CALC_STAGE_KINDS];
    double passing[CALC_STAGE_KINDS];
    for (int kind = 0; kind < CALC_STAGE_KINDS; kind++) {
        const calc_stage_part *block = &t->block[kind];
        s[kind] = block->fw_s;
        elements[kind] = block->weights.dense + block->weights.expert;
        bytes[kind] = run->checkpoint ? block->kept_bytes : block->whole_bytes;
        passing[kind] = block->passing_bytes;
    }
    double beside = mean(passing, experts);
    out->layer_ms = mean(s, experts) * 1e3;
    out->layer_elements = mean(elements, experts);
    out->layer_mb = mean(bytes, experts) / MB;
    out->other_ms = (t->embedding.fw_s + t->head.fw_s) * 1e3;
    out->first_elements = t->embedding.weights.dense;
    out->last_elements = t->head.weights.dense;
    out->first_mb = (t->embedding.whole_bytes + beside) / MB;
    out->last_mb = (t->head.whole_bytes + calc_max(beside, t->head.passing_bytes)) / MB;
}

bool calc_galvatron_measure(const calc_galvatron_synthesis *s, const calc_galvatron_run *run,
                            calc_galvatron_measured *out)
{
    calc_exec exec;
    calc_layout layout;
    calc_errors ignored = {0};
    exec_of(s, run, &exec);
    if (calc_check(s->app, s->system, &exec, &ignored) != CALC_OK) {
        return false;
    }
    calc_layout_of(s->app, s->system, &exec, CALC_COMPAT_NONE, NULL, NULL, &layout);
    take(&layout, run, out);
    return true;
}

/* Ranks of a collective at this distance from one another. */
static double collective_ms(const calc_galvatron_synthesis *s, calc_collective_op op, int64_t ranks,
                            int64_t stride, double mb)
{
    const calc_group group = {.ranks = (double)ranks, .stride = (double)stride};
    calc_system system = *s->system;
    if (s->request->num_nodes > 1 && system.networks[0].size > s->request->num_gpus_per_node) {
        system.networks[0].size = s->request->num_gpus_per_node; /* at most one node apart */
    }
    return calc_collective_s(&system, op, &group, mb * MB) * 1e3;
}

static int64_t farthest(const calc_galvatron_synthesis *s, int64_t ranks)
{
    return calc_galvatron_world(s->request) / ranks;
}

double calc_galvatron_measure_allreduce(const calc_galvatron_synthesis *s, int64_t ranks,
                                        bool neighbours)
{
    double n = (double)ranks;
    return 2 * (n - 1) / n * ALLREDUCE_MB /
           collective_ms(s, CALC_OP_ALL_REDUCE, ranks, neighbours ? 1 : farthest(s, ranks),
                         ALLREDUCE_MB);
}

double calc_galvatron_measure_collective_ms(const calc_galvatron_synthesis *s, bool allreduce,
                                            int64_t ranks, double mb)
{
    return collective_ms(s, allreduce ? CALC_OP_ALL_REDUCE : CALC_OP_ALL_TO_ALL, ranks, 1, mb);
}

double calc_galvatron_measure_overlap(const calc_galvatron_synthesis *s)
{
    const calc_group all = {.ranks = (double)calc_galvatron_world(s->request), .stride = 1};
    int64_t top = calc_collective_top_network(s->system, &all);
    double usage = 0;
    for (int64_t i = 0; i <= top; i++) {
        usage = calc_max(usage, s->system->networks[i].processor_usage);
    }
    return 1 / (1 - usage);
}

enum { BATCHES = 12, SEQUENCES = 5, MOST_MB = 1024 };

void calc_galvatron_layers_of_app(const calc_app *app, calc_galvatron_request *request)
{
    int64_t sequence = request->types > 0 ? request->layers[0].seq_len : 0;
    request->types = 1;
    request->layers[0] =
        (calc_galvatron_layers){.hidden_size = app->hidden,
                                .layer_num = app->num_blocks,
                                .seq_len = sequence > 0 ? sequence : app->seq_size};
}

/* Chooses the sequence lengths to measure in ascending order: the request's and others around it.
 * Measured lengths are multiples of 8, as profilers require.
 * @return how many */
static int sequences_of(const calc_galvatron_request *request, int64_t out[SEQUENCES])
{
    int64_t at = request->layers[0].seq_len;
    int count = 0;
    for (int64_t divisor = 8; divisor >= 2; divisor /= 2) {
        if (at % (divisor * 8) == 0) {
            out[count++] = at / divisor;
        }
    }
    out[count++] = at;
    out[count++] = at * 2;
    return count;
}

CALC_PRINTF(3, 4)
static void put_keyed(calc_put *put, double value, const char *fmt, ...)
{
    char key[64];
    va_list args;
    va_start(args, fmt);
    vsnprintf(key, sizeof key, fmt, args);
    va_end(args);
    calc_put_number(put, key, value);
}

static void put_time(calc_put *put, const calc_galvatron_synthesis *s, int64_t batch,
                     int64_t sequence)
{
    const calc_galvatron_run run = {.tensor_par = 1, .batch = batch, .sequence = sequence};
    calc_galvatron_measured m;
    if (calc_galvatron_measure(s, &run, &m)) {
        put_keyed(put, m.layer_ms / (double)batch, "layertype_0_bsz%jd_seq%jd", batch, sequence);
        put_keyed(put, m.other_ms / (double)batch, "layertype_other_bsz%jd_seq%jd", batch,
                  sequence);
    }
}

static void put_computation(calc_put *put, const calc_galvatron_synthesis *s)
{
    int64_t sequence[SEQUENCES];
    int count = sequences_of(s->request, sequence);
    int64_t at = s->request->layers[0].seq_len;
    for (int64_t batch = 1; batch <= BATCHES; batch++) {
        put_time(put, s, batch, at);
    }
    for (int i = 0; i < count; i++) {
        if (sequence[i] != at) {
            put_time(put, s, 1, sequence[i]);
        }
    }
}

enum { LAYER = -1 /* beside the places of embedding and head */ };

static double memory_mb(const calc_galvatron_measured *m, int place, bool states)
{
    /* 16 bytes per parameter: two copies of the weight, its gradient and two moments. */
    double first = states ? m->first_elements * 16 / MB : m->first_mb;
    double last = states ? m->last_elements * 16 / MB : m->last_mb;
    return place == LAYER                  ? m->layer_mb
           : place == CALC_GALVATRON_FIRST ? first
           : place == CALC_GALVATRON_LAST  ? last
                                           : first + last;
}

/* Writes a table by degree. If the model cannot be split so far, half of the value of the previous
 * degree is used. */
static void put_degrees(calc_put *put, const calc_galvatron_synthesis *s, int64_t sequence, bool sp,
                        int place, bool states)
{
    calc_galvatron_measured m;
    double mb = 0;
    calc_galvatron_needs needs = calc_galvatron_needs_of(s->request);
    int64_t widest = (int64_t)1 << (needs.tp > needs.sp ? needs.tp : needs.sp);
    for (int64_t tp = 1; tp <= widest; tp *= 2) {
        const calc_galvatron_run run = {.tensor_par = tp,
                                        .batch = 1,
                                        .sequence = sequence,
                                        .sequence_par = sp,
                                        .stages = place > CALC_GALVATRON_OFF};
        mb = calc_galvatron_measure(s, &run, &m) ? memory_mb(&m, place, states) : mb / 2;
        put_keyed(put, mb, "%jd", tp);
    }
}

/* @param place  LAYER, or of embedding and head */
static void put_section(calc_put *put, const calc_galvatron_synthesis *s, int place, bool sp)
{
    static const char *const names[] = {"layertype_0", "other_memory_pp_off",
                                        "other_memory_pp_on_first", "other_memory_pp_on_last"};
    int64_t sequence[SEQUENCES];
    int count = sequences_of(s->request, sequence);
    char key[64];
    snprintf(key, sizeof key, "%s%s", names[place - LAYER], sp ? "_sp" : "");
    calc_put_object(put, key, CALC_PUT_LINES);
    for (int i = 0; i < count; i++) {
        calc_galvatron_run run = {
            .tensor_par = 1, .batch = 1, .sequence = sequence[i], .sequence_par = sp};
        calc_galvatron_measured m = {0};
        snprintf(key, sizeof key, "%jd", sequence[i]);
        calc_put_object(put, key, CALC_PUT_LINES);
        if (place == LAYER) {
            (void)calc_galvatron_measure(s, &run, &m);
            calc_putf(put, "parameter_size: %g, tp_activation_per_bsz_dict: {\n",
                      m.layer_elements * 4 / MB);
            put_degrees(put, s, sequence[i], sp, place, false);
            run.checkpoint = true;
            (void)calc_galvatron_measure(s, &run, &m);
            calc_putf(put, "checkpoint: %g}}", m.layer_mb);
        } else {
            calc_putf(put, "model_states: {\n");
            put_degrees(put, s, sequence[i], sp, place, true);
            calc_putf(put, "}, activation: {\n");
            put_degrees(put, s, sequence[i], sp, place, false);
            calc_putf(put, "}}");
        }
    }
    calc_put_close(put);
}

static void put_collectives(calc_put *put, const calc_galvatron_synthesis *s)
{
    for (int allreduce = 1; allreduce >= 0; allreduce--) {
        for (int64_t ranks = calc_galvatron_world(s->request); ranks >= 2; ranks /= 2) {
            for (int mb = 1; mb <= MOST_MB; mb *= 2) {
                put_keyed(put, calc_galvatron_measure_collective_ms(s, allreduce, ranks, mb),
                          "%s_size_%jd_%dMB_time", allreduce ? "allreduce" : "all2all", ranks, mb);
            }
        }
    }
}

void calc_galvatron_synthesis_write(const calc_galvatron_synthesis *s, calc_galvatron_file file,
                                    calc_output *out)
{
    calc_put put = {.out = out, .step = 4};
    const int64_t world = calc_galvatron_world(s->request);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    switch (file) {
    case CALC_GALVATRON_FILE_COMPUTATION:
        put_computation(&put, s);
        break;
    case CALC_GALVATRON_FILE_MEMORY:
        for (int sp = 1; sp >= 0; sp--) {
            for (int place = LAYER; place < CALC_GALVATRON_PLACES; place++) {
                put_section(&put, s, place, sp);
            }
        }
        break;
    case CALC_GALVATRON_FILE_ALLREDUCE:
        for (int64_t ranks = world; ranks >= 2; ranks /= 2) {
            for (int near = 1; near >= (ranks == world); near--) {
                put_keyed(&put, calc_galvatron_measure_allreduce(s, ranks, near),
                          "allreduce_size_%jd_consec_%d", ranks, near);
            }
        }
        break;
    case CALC_GALVATRON_FILE_P2P:
        for (int64_t n = 2; n <= world; n *= 2) {
            put_keyed(&put, P2P_MB / collective_ms(s, CALC_OP_P2P, n, farthest(s, n), P2P_MB),
                      "pp_size_%jd", n);
        }
        break;
    case CALC_GALVATRON_FILE_OVERLAP:
        calc_put_number(&put, "overlap_coe", calc_galvatron_measure_overlap(s));
        break;
    default:
        put_collectives(&put, s);
        break;
    }
    calc_put_end(&put);
}

calc_status calc_galvatron_profiles_of_model(const calc_app *app, const calc_system *system,
                                             const calc_galvatron_request *request,
                                             calc_galvatron_profiles *out, calc_errors *errors)
{
    const calc_galvatron_synthesis s = {.app = app, .system = system, .request = request};
    *out = (calc_galvatron_profiles){0};
    calc_status status = calc_galvatron_synthesis_check(&s, errors);
    for (int file = 0; file < CALC_GALVATRON_FILE_COUNT && status == CALC_OK; file++) {
        calc_text text = {0};
        calc_output *memory;
        status = calc_output_open_memory(&memory, &text, errors);
        if (status == CALC_OK) {
            calc_galvatron_synthesis_write(&s, (calc_galvatron_file)file, memory);
            status = calc_output_close(memory, errors);
        }
        if (status == CALC_OK) {
            const calc_galvatron_reading reading = {.request = request,
                                                    .out = out,
                                                    .name = "calc's own profile",
                                                    .text = text.data,
                                                    .length = text.length,
                                                    .errors = errors};
            status = calc_galvatron_read(&reading, (calc_galvatron_file)file);
        }
        calc_text_free(&text);
    }
    if (status == CALC_OK && app->num_experts > 0) {
        calc_notes_add(&out->notes, "layers with and without experts are one type, the mean of "
                                    "both; no time is counted for experts on other ranks");
    }
    return status;
}
