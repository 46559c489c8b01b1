/* A case of tests/galvatron/: its request and its profiles. */
#ifndef CALC_TESTS_GALVATRON_CASE_H
#define CALC_TESTS_GALVATRON_CASE_H

#include "galvatron/profiles.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GALVATRON CALC_TEST_DATA "/galvatron/"

typedef struct galvatron_case {
    json_t *arguments;
    calc_galvatron_request request;
    calc_galvatron_paths paths;
    char model[512], machine[512];
    calc_galvatron_profiles profiles;
} galvatron_case;

static inline json_t *galvatron_json(const char *path)
{
    json_error_t error;
    char full[1024];
    snprintf(full, sizeof full, GALVATRON "%s", path);
    json_t *json = json_load_file(full, 0, &error);
    ck_assert_msg(json != NULL, "%s: %s", full, error.text);
    return json;
}

static inline int galvatron_word(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp(word, words[i]) == 0) {
            return i;
        }
    }
    ck_abort_msg("%s", word);
    return 0;
}

/* A value of a block of args.json; -1: none. */
static inline int64_t galvatron_int(const galvatron_case *c, const char *block, const char *name)
{
    const json_t *value =
        json_object_get(json_object_get(json_object_get(c->arguments, "args"), block), name);
    return json_is_boolean(value) ? json_is_true(value) : value ? json_integer_value(value) : -1;
}

static inline const char *galvatron_text(const galvatron_case *c, const char *block,
                                         const char *name)
{
    return json_string_value(
        json_object_get(json_object_get(json_object_get(c->arguments, "args"), block), name));
}

static inline void galvatron_layers(galvatron_case *c)
{
    size_t i;
    const json_t *layers;
    json_array_foreach (json_object_get(c->arguments, "layers"), i, layers) {
        c->request.layers[i] = (calc_galvatron_layers){
            .hidden_size = json_integer_value(json_object_get(layers, "hidden_size")),
            .layer_num = json_integer_value(json_object_get(layers, "layer_num")),
            .seq_len = json_integer_value(json_object_get(layers, "seq_len"))};
        c->request.types = (int)i + 1;
    }
}

static inline void galvatron_request(galvatron_case *c)
{
    static const char *const dp[] = {"ddp", "zero2", NULL};
    static const char *const schedules[] = {"gpipe", "pipedream_flush", NULL};
    static const char *const precisions[] = {"fp32", "fp16", "bf16", NULL};
    static const char *const times[] = {"static", "batch", "sequence", NULL};
    static const char *const memories[] = {"static", "sequence", NULL};
    const char *parallel = "parallelism_info", *space = "search_space_info";
    calc_galvatron_request *r = &c->request;
    *r = (calc_galvatron_request){.debug_costmodel_coe = 1, .compat = true};
    snprintf(r->model, sizeof r->model, "%s",
             json_string_value(json_object_get(c->arguments, "model_name")));
    r->default_dp_type =
        (calc_galvatron_dp)galvatron_word(galvatron_text(c, parallel, "default_dp_type"), dp);
    r->pipeline_type = (calc_galvatron_schedule)galvatron_word(
        galvatron_text(c, parallel, "pipeline_type"), schedules);
    r->mixed_precision = (calc_galvatron_precision)galvatron_word(
        galvatron_text(c, parallel, "mixed_precision"), precisions);
    r->time_profile_mode = (calc_galvatron_time_mode)galvatron_word(
        galvatron_text(c, "profiling_info", "time_profile_mode"), times);
    r->memory_profile_mode = (calc_galvatron_memory_mode)galvatron_word(
        galvatron_text(c, "profiling_info", "memory_profile_mode"), memories);
    r->async_grad_reduce = galvatron_int(c, parallel, "async_grad_reduce");
    r->sequence_parallel = galvatron_int(c, "common_train_info", "sequence_parallel");
    r->global_memory_buffer = galvatron_int(c, "common_train_info", "global_memory_buffer");
    r->num_nodes = galvatron_int(c, "hardware_info", "num_nodes");
    r->num_gpus_per_node = galvatron_int(c, "hardware_info", "num_gpus_per_node");
    r->memory_constraint = (double)galvatron_int(c, "hardware_info", "memory_constraint");
    r->min_bsz = galvatron_int(c, "batch_size_info", "min_bsz");
    r->max_bsz = galvatron_int(c, "batch_size_info", "max_bsz");
    r->bsz_scale = galvatron_int(c, "batch_size_info", "bsz_scale");
    r->settle_bsz = galvatron_int(c, "batch_size_info", "settle_bsz");
    r->settle_chunk = galvatron_int(c, "batch_size_info", "settle_chunk");
    r->disable_tp = galvatron_int(c, space, "disable_tp") == 1;
    r->disable_sp = galvatron_int(c, space, "disable_sp") == 1;
    r->disable_pp = galvatron_int(c, space, "disable_pp") == 1;
    r->disable_ckpt = galvatron_int(c, space, "disable_ckpt") == 1;
    r->max_tp_deg = galvatron_int(c, space, "max_tp_deg");
    r->max_sp_deg = galvatron_int(c, space, "max_sp_deg");
    r->max_pp_deg = galvatron_int(c, space, "max_pp_deg");
    galvatron_layers(c);
}

/* Its request, and where its profiles are; close it in the end. */
static inline void galvatron_open(galvatron_case *c, const char *name)
{
    char path[512];
    memset(c, 0, sizeof *c);
    snprintf(path, sizeof path, "%s/args.json", name);
    c->arguments = galvatron_json(path);
    galvatron_request(c);
    snprintf(c->model, sizeof c->model, GALVATRON "%s/%s", name,
             json_string_value(json_object_get(c->arguments, "profile_dir")));
    snprintf(c->machine, sizeof c->machine, GALVATRON "%s/%s", name,
             json_string_value(json_object_get(c->arguments, "hardware_dir")));
    c->paths = (calc_galvatron_paths){
        {c->model, c->model, c->machine, c->machine, c->machine, c->machine}};
}

static inline void galvatron_load(galvatron_case *c)
{
    calc_errors errors = {0};
    calc_status status =
        calc_galvatron_profiles_load(&c->profiles, &c->request, &c->paths, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", errors.item[0].file, errors.item[0].text);
}

/* Upstream fits by SciPy's curve_fit, which stops when a step changes the coefficients, or lowers
 * the squared residuals, by less than a relative 1.49e-8. The terms are linear, so that this step
 * has ended at the least squares, but for derivatives by differences, accurate to 1.5e-8. */
static inline void galvatron_take(double *ours, const json_t *upstream)
{
    double theirs = json_number_value(upstream);
    ck_assert_double_eq_tol(*ours, theirs, 3e-8 * theirs);
    *ours = theirs;
}

/* A slope with its offset, or an offset alone. */
static inline void galvatron_take_line(calc_galvatron_line *line, const json_t *upstream)
{
    if (json_is_array(upstream)) {
        galvatron_take(&line->slope, json_array_get(upstream, 0));
    }
    galvatron_take(&line->offset, json_is_array(upstream) ? json_array_get(upstream, 1) : upstream);
}

/* The coefficients that upstream fitted, in the place of those beside them: all that follows from
 * them is then upstream's to the bit. */
static inline void galvatron_take_fits(galvatron_case *c, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/result.json", name);
    json_t *result = galvatron_json(path);
    const json_t *fits = json_object_get(result, "sp_fit"), *times;
    const char *ranks;
    json_t *line;
    times = json_object_get(result, "fitted_layer_forward_time");
    for (int type = 0; type < c->request.types; type++) {
        galvatron_take_line(&c->profiles.layer[type].line, json_array_get(times, (size_t)type));
    }
    times = json_object_get(result, "fitted_other_forward_time");
    galvatron_take_line(&c->profiles.other.line, json_array_get(times, 0));
    calc_galvatron_needs needs = calc_galvatron_needs_of(&c->request);
    json_object_foreach (json_object_get(fits, "allgather(=allreduce*0.5)"), ranks, line) {
        if (ilogb(atof(ranks)) <= needs.tp) { /* else it is not searched */
            galvatron_take_line(&c->profiles.all_gather[ilogb(atof(ranks))].line, line);
        }
    }
    json_object_foreach (json_object_get(fits, "all2all"), ranks, line) {
        if (ilogb(atof(ranks)) <= needs.sp) {
            galvatron_take_line(&c->profiles.all_to_all[ilogb(atof(ranks))].line, line);
        }
    }
    json_decref(result);
}

static inline void galvatron_close(galvatron_case *c)
{
    json_decref(c->arguments);
}

#endif
