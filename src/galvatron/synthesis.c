#include "galvatron/synthesis.h"

#include "galvatron/measure.h"
#include "galvatron/reading.h"
#include "io/json_put.h"
#include "io/text.h"

#include <inttypes.h>
#include <stdio.h>

enum { BATCHES = 12, SEQUENCES = 5, KEY = 64, MOST_MB = 1024 };

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

static int64_t widest(const calc_galvatron_request *request)
{
    calc_galvatron_needs needs = calc_galvatron_needs_of(request);
    return (int64_t)1 << (needs.tp > needs.sp ? needs.tp : needs.sp);
}

/* ---- Computation ----------------------------------------------------------------------------- */

static void put_time(calc_put *put, const calc_galvatron_synthesis *s, int64_t batch,
                     int64_t sequence)
{
    const calc_galvatron_run run = {.tensor_par = 1, .batch = batch, .sequence = sequence};
    calc_galvatron_measured m;
    char key[KEY];
    if (calc_galvatron_measure(s, &run, &m)) {
        snprintf(key, sizeof key, "layertype_0_bsz%" PRId64 "_seq%" PRId64, batch, sequence);
        calc_put_number(put, key, m.layer_ms / (double)batch);
        snprintf(key, sizeof key, "layertype_other_bsz%" PRId64 "_seq%" PRId64, batch, sequence);
        calc_put_number(put, key, m.other_ms / (double)batch);
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

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Memory of one sample of a sequence on a rank. */
static bool measure(const calc_galvatron_synthesis *s, int64_t tp, int64_t sequence, bool sp,
                    bool stages, calc_galvatron_measured *out)
{
    const calc_galvatron_run run = {
        .tensor_par = tp, .batch = 1, .sequence = sequence, .sequence_par = sp, .stages = stages};
    return calc_galvatron_measure(s, &run, out);
}

static double checkpoint_mb(const calc_galvatron_synthesis *s, int64_t sequence)
{
    const calc_galvatron_run run = {
        .tensor_par = 1, .batch = 1, .sequence = sequence, .checkpoint = true};
    calc_galvatron_measured m = {0};
    (void)calc_galvatron_measure(s, &run, &m);
    return m.layer_mb;
}

/* Writes a table by degree. If the model cannot be split so far, half of the value of the previous
 * degree is used. */
static void put_degrees(calc_put *put, const calc_galvatron_synthesis *s, int64_t sequence, bool sp,
                        int place, double (*value)(const calc_galvatron_measured *m, int place))
{
    calc_galvatron_measured m;
    double mb = 0;
    char key[KEY];
    for (int64_t tp = 1; tp <= widest(s->request); tp *= 2) {
        bool split = measure(s, tp, sequence, sp, place > CALC_GALVATRON_OFF, &m);
        mb = split ? value(&m, place) : mb / 2;
        snprintf(key, sizeof key, "%" PRId64, tp);
        calc_put_number(put, key, mb);
    }
}

static double layer_mb(const calc_galvatron_measured *m, int place)
{
    (void)place;
    return m->layer_mb;
}

static double of_place(double first, double last, int place)
{
    return place == CALC_GALVATRON_FIRST  ? first
           : place == CALC_GALVATRON_LAST ? last
                                          : first + last;
}

/* 16 bytes per parameter: two copies of the weight, its gradient and two moments. */
static double states_mb(const calc_galvatron_measured *m, int place)
{
    return of_place(m->first_elements, m->last_elements, place) * 16 / 1048576;
}

static double other_mb(const calc_galvatron_measured *m, int place)
{
    return of_place(m->first_mb, m->last_mb, place);
}

static void put_layer(calc_put *put, const calc_galvatron_synthesis *s, bool sp)
{
    int64_t sequence[SEQUENCES];
    int count = sequences_of(s->request, sequence);
    char key[KEY];
    calc_put_object(put, sp ? "layertype_0_sp" : "layertype_0", CALC_PUT_LINES);
    for (int i = 0; i < count; i++) {
        calc_galvatron_measured m = {0};
        (void)measure(s, 1, sequence[i], sp, false, &m);
        snprintf(key, sizeof key, "%" PRId64, sequence[i]);
        calc_put_object(put, key, CALC_PUT_LINES);
        calc_put_number(put, "parameter_size", m.layer_elements * 4 / 1048576);
        calc_put_object(put, "tp_activation_per_bsz_dict", CALC_PUT_LINES);
        put_degrees(put, s, sequence[i], sp, CALC_GALVATRON_OFF, layer_mb);
        calc_put_number(put, "checkpoint", checkpoint_mb(s, sequence[i]));
        calc_put_close(put);
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void put_other(calc_put *put, const calc_galvatron_synthesis *s, int place, bool sp)
{
    static const char *const names[] = {"other_memory_pp_off", "other_memory_pp_on_first",
                                        "other_memory_pp_on_last"};
    int64_t sequence[SEQUENCES];
    int count = sequences_of(s->request, sequence);
    char key[KEY];
    snprintf(key, sizeof key, "%s%s", names[place], sp ? "_sp" : "");
    calc_put_object(put, key, CALC_PUT_LINES);
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "%" PRId64, sequence[i]);
        calc_put_object(put, key, CALC_PUT_LINES);
        calc_put_object(put, "model_states", CALC_PUT_LINES);
        put_degrees(put, s, sequence[i], sp, place, states_mb);
        calc_put_close(put);
        calc_put_object(put, "activation", CALC_PUT_LINES);
        put_degrees(put, s, sequence[i], sp, place, other_mb);
        calc_put_close(put);
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void put_memory(calc_put *put, const calc_galvatron_synthesis *s)
{
    for (int sp = 1; sp >= 0; sp--) {
        put_layer(put, s, sp);
        for (int place = 0; place < CALC_GALVATRON_PLACES; place++) {
            put_other(put, s, place, sp);
        }
    }
}

/* ---- The machine ----------------------------------------------------------------------------- */

static void put_allreduce(calc_put *put, const calc_galvatron_synthesis *s)
{
    int64_t world = calc_galvatron_world(s->request);
    char key[KEY];
    for (int64_t ranks = world; ranks >= 2; ranks /= 2) {
        snprintf(key, sizeof key, "allreduce_size_%" PRId64 "_consec_1", ranks);
        calc_put_number(put, key, calc_galvatron_measure_allreduce(s, ranks, true));
        if (ranks < world) {
            snprintf(key, sizeof key, "allreduce_size_%" PRId64 "_consec_0", ranks);
            calc_put_number(put, key, calc_galvatron_measure_allreduce(s, ranks, false));
        }
    }
}

static void put_p2p(calc_put *put, const calc_galvatron_synthesis *s)
{
    char key[KEY];
    for (int64_t stages = 2; stages <= calc_galvatron_world(s->request); stages *= 2) {
        snprintf(key, sizeof key, "pp_size_%" PRId64, stages);
        calc_put_number(put, key, calc_galvatron_measure_p2p(s, stages));
    }
}

static void put_collectives(calc_put *put, const calc_galvatron_synthesis *s)
{
    char key[KEY];
    for (int allreduce = 1; allreduce >= 0; allreduce--) {
        for (int64_t ranks = calc_galvatron_world(s->request); ranks >= 2; ranks /= 2) {
            for (int mb = 1; mb <= MOST_MB; mb *= 2) {
                snprintf(key, sizeof key, "%s_size_%" PRId64 "_%dMB_time",
                         allreduce ? "allreduce" : "all2all", ranks, mb);
                calc_put_number(put, key,
                                calc_galvatron_measure_collective_ms(s, allreduce, ranks, mb));
            }
        }
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

void calc_galvatron_synthesis_write(const calc_galvatron_synthesis *s, calc_galvatron_file file,
                                    calc_output *out)
{
    calc_put put = {.out = out, .step = 4};
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    switch (file) {
    case CALC_GALVATRON_FILE_COMPUTATION:
        put_computation(&put, s);
        break;
    case CALC_GALVATRON_FILE_MEMORY:
        put_memory(&put, s);
        break;
    case CALC_GALVATRON_FILE_ALLREDUCE:
        put_allreduce(&put, s);
        break;
    case CALC_GALVATRON_FILE_P2P:
        put_p2p(&put, s);
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
