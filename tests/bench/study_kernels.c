/* What measured kernels are worth before any step was measured: SimuMax's runs on B200 predicted
 * with and without the kernels that SimuMax publishes of it.
 *
 * usage: study_kernels [SYSTEM.json ...], machines to predict with instead of
 * systems/b200_180g.json
 */
#include "bench/tune_runs.h"
#include "calibrate/points.h"
#include "gauss/effects.h"
#include "tune/kernels.h"

enum { GROUP = 64 };
#define NOISE 0.005 /* of a measured step */

typedef struct group {
    const calc_prediction *run[GROUP];
    calc_tune_candidate candidate[GROUP];
    double measured_s[GROUP];
    size_t count;
} group;

typedef struct score {
    double absolute, alone, together; /* error; log densities, each run alone and all of a model */
    size_t count, pairs, right;
    double mean, squares;
} score;

static const char *file; /* NULL: as shipped; "": see load_new() */

/* Rates of the data sheet of B200, and otherwise H100. */
static calc_status load_new(calc_system *out, calc_errors *errors)
{
    static calc_system sheet;
    calc_status status = tune_load_system(CALC_KIND_SYSTEM, "b200_180g", &sheet, errors);
    status =
        status == CALC_OK ? tune_load_system(CALC_KIND_SYSTEM, "h100_sxm", out, errors) : status;
    for (int i = 0; i < CALC_DATATYPE_COUNT && status == CALC_OK; i++) {
        out->chip.matrix[i].flop_per_s = sheet.chip.matrix[i].flop_per_s;
        out->chip.vector[i].flop_per_s = sheet.chip.vector[i].flop_per_s;
    }
    out->chip.mem1.bytes_per_s = sheet.chip.mem1.bytes_per_s;
    out->chip.mem1.capacity_bytes = sheet.chip.mem1.capacity_bytes;
    for (int i = 0; i < out->networks_count && i < sheet.networks_count; i++) {
        out->networks[i].bytes_per_s = sheet.networks[i].bytes_per_s;
    }
    return status;
}

static calc_status load(calc_kind kind, const char *name, void *out, calc_errors *errors)
{
    bool own = file && strcmp(name, "b200_180g") == 0;
    return own && !*file ? load_new(out, errors)
           : own         ? calc_load(kind, out, file, errors)
                         : tune_load_system(kind, name, out, errors);
}

static calc_exec exec_of(const void *context, size_t i)
{
    return ((const group *)context)->run[i]->map.exec;
}

/* Runs of one model are predicted together. */
static bool judge(const group *g, const calc_tune_prior *prior, const calc_tune_kernels *kernels,
                  score *s)
{
    calc_errors errors = {0};
    calc_tune_model model;
    calc_effects_observation seen[GROUP];
    calc_effects_posterior all = {0};
    bool fine = true;
    double expected[GROUP];
    calc_tune_model_make(&model, prior, kernels, g->candidate, g->count);
    for (size_t i = 0; fine && i < g->count; i++) {
        double y = log(g->measured_s[i]);
        calc_effects_posterior one = {0};
        expected[i] = calc_effects_expected(&model.time, &model.time_item[i]);
        seen[i] = (calc_effects_observation){i, CALC_EFFECTS_AT, y, NOISE};
        fine = calc_effects_condition(&one, &model.time, model.time_item, &seen[i], 1, &errors) ==
               CALC_OK;
        s->absolute += fabs(y - expected[i]);
        s->mean += y - expected[i];
        s->squares += (y - expected[i]) * (y - expected[i]);
        s->alone += calc_effects_log_density(&one, (double)INFINITY);
        s->count++;
        calc_effects_free(&one);
        for (size_t k = 0; k < i; k++) {
            if (g->run[i]->map.exec.batch_size == g->run[k]->map.exec.batch_size) {
                s->pairs++;
                s->right += (g->measured_s[i] < g->measured_s[k]) == (expected[i] < expected[k]);
            }
        }
    }
    fine = fine && calc_effects_condition(&all, &model.time, model.time_item, seen, g->count,
                                          &errors) == CALC_OK;
    s->together += fine ? calc_effects_log_density(&all, (double)INFINITY) : 0;
    calc_effects_free(&all);
    calc_tune_model_free(&model);
    return fine;
}

static bool judge_both(const group *g, const calc_kernel_table *table, score *without, score *with)
{
    calc_errors errors = {0};
    calc_tune_prior prior = calc_tune_prior_default();
    calc_tune_kernel_cells cells;
    calc_tune_kernels_learnt learnt = {0};
    const calc_run_map *m = &g->run[0]->map;
    const calc_system *system = &calc_documents_get(&tune_runs.systems, m->row->sys)->system;
    calc_tune_kernel_cells_make(&cells, &m->app, system, g->candidate, g->count, exec_of, g);
    bool fine = calc_tune_kernels_learn(&learnt, &prior, table, cells.cell, cells.count, &errors) ==
                CALC_OK;
    fine = fine && judge(g, &prior, NULL, without) && judge(g, &prior, &learnt.kernels, with);
    for (size_t i = 0; i < learnt.classes && getenv("CALC_STUDY_CLASSES"); i++) {
        char words[CALC_TUNE_KERNEL_WORDS];
        const calc_tune_kernels_class *c = &learnt.class[i];
        printf("  %zu runs, %zu cells: %s %.2f, %zu shapes, %zu measured, %zu exact, error %.3f\n",
               g->count, cells.count, calc_tune_kernel_class_words(&c->class, words), c->share,
               c->shapes, c->measured, c->exact, c->error);
    }
    calc_tune_kernels_free(&learnt);
    calc_tune_kernel_cells_free(&cells);
    return fine;
}

static bool same_model(const calc_app *a, const calc_app *b)
{
    return a->hidden == b->hidden && a->num_blocks == b->num_blocks && a->seq_size == b->seq_size &&
           a->feedforward == b->feedforward && a->num_experts == b->num_experts;
}

/* The next model's runs. @return whether there are any */
static bool next_group(size_t *from, group *g)
{
    g->count = 0;
    for (; *from < tune_runs.results.count; (*from)++) {
        const calc_result *x = &tune_runs.results.item[*from];
        const calc_run_map *m = &x->prediction->map;
        if (x->use != CALC_USE_SCORED || x->quantity != CALC_QUANTITY_STEP_TIME ||
            strncmp(m->row->id, "simumax_b200", 12) != 0) {
            continue;
        }
        if (g->count == GROUP || (g->count > 0 && !same_model(&m->app, &g->run[0]->map.app))) {
            return true;
        }
        const calc_system *system = &calc_documents_get(&tune_runs.systems, m->row->sys)->system;
        if (calc_tune_candidate_of(&g->candidate[g->count], &m->app, system, &m->exec)) {
            g->run[g->count] = x->prediction;
            g->measured_s[g->count++] = x->measured;
        }
    }
    return g->count > 0;
}

static void print(const char *name, const score *s)
{
    double n = (double)s->count, mean = s->mean / n;
    printf("| %s | %zu | %.2f | %+.2f | %.2f | %.1f | %.1f | %zu of %zu |\n", name, s->count,
           100 * s->absolute / n, 100 * mean, 100 * sqrt(s->squares / n - mean * mean), s->alone,
           s->together, s->right, s->pairs);
}

static bool study(const char *path)
{
    static group g;
    calc_errors errors = {0};
    calc_points points = {0};
    calc_point_table table = {0};
    score without = {0}, with = {0};
    size_t from = 0;
    file = path;
    tune_runs.systems.load = load;
    bool fine = tune_runs_read();
    const calc_document *entry = fine ? calc_documents_get(&tune_runs.systems, "b200_180g") : NULL;
    fine = fine &&
           calc_points_read(&points, CALC_DATA_DIR_SOURCE "/tests/measured/operators.csv",
                            &errors) == CALC_OK &&
           calc_points_select(&points, "b200", &entry->system, &errors) == CALC_OK;
    if (fine) {
        calc_point_table_make(&table, points.item, points.count, NULL, &entry->system);
    }
    while (fine && next_group(&from, &g)) {
        fine = judge_both(&g, &table.table, &without, &with);
    }
    printf("%s\n", !path ? "systems/b200_180g.json" : *path ? path : "data sheet");
    print("without", &without);
    print("with kernels", &with);
    calc_point_table_free(&table);
    calc_points_free(&points);
    tune_runs_free();
    memset(&tune_runs, 0, sizeof tune_runs);
    return fine;
}

int main(int argc, char **argv)
{
    bool fine;
    printf("| | runs | mean abs. error %% | mean error %% | sd %% | log score alone | together | "
           "pairs in "
           "order |\n");
    fine = study("") && study(NULL);
    for (int i = 1; i < argc; i++) {
        fine = study(argv[i]) && fine;
    }
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
