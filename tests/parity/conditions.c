#include "conditions.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "spec/field.h"

enum { DRAWS = 6, MOST_CONDITIONS = 3 };

static const char *const names[] = {"num_procs",
                                    "tensor_par",
                                    "pipeline_par",
                                    "data_par",
                                    "batch_size",
                                    "microbatch_size",
                                    "pipeline_interleaving",
                                    "tensor_par_net",
                                    "pipeline_par_net",
                                    "data_par_net",
                                    "zero_stage",
                                    "expert_par",
                                    "context_par",
                                    "activation_recompute",
                                    "tensor_par_comm_type",
                                    "tensor_par_overlap",
                                    "optimizer_sharding",
                                    "data_par_overlap",
                                    "param_gather_overlap",
                                    "pipeline_par_overlap",
                                    "weight_offload",
                                    "activations_offload",
                                    "fused_activation",
                                    "total_time",
                                    "sample_rate",
                                    "mem1",
                                    "mem2",
                                    "tokens_per_s",
                                    "tokens_per_s_per_proc",
                                    "model_flops_utilization",
                                    "model_flops_utilization_square",
                                    "hardware_flops_utilization",
                                    "days_per_trillion_tokens",
                                    "proc_hours_per_trillion_tokens",
                                    "usd_per_trillion_tokens",
                                    "job_usd_per_hour",
                                    "energy_per_token",
                                    "weight_space",
                                    "system_efficiency"};

/* A condition, met or just not met by a layout. */
static calc_constraint random_condition(calc_rng *rng, const oracle_layout *layout)
{
    static const char *const relations[] = {"<=", "<", ">=", ">", "=", "!="};
    calc_constraint out;
    char text[96];
    const char *name = names[calc_rng_below(rng, sizeof names / sizeof *names)];
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_EXEC), name);
    bool word = field && (field->choices || field->type == CALC_TYPE_BOOL);
    size_t relation = word ? 4 + calc_rng_below(rng, 2) : calc_rng_below(rng, 6);
    snprintf(text, sizeof text, "%s %s %s", name, relations[relation],
             !word            ? "0"
             : field->choices ? field->choices[0]
                              : "true");
    ck_assert_msg(calc_constraint_parse(&out, text, NULL) == CALC_OK, "%s", text);
    const calc_exec exec = calc_found_exec(&layout->found);
    double value = calc_constraint_value(&out, &exec, &layout->stats);
    out.value = isnan(value) ? 1 : value;
    return out;
}

/* A layout that is feasible, if there is one: the others have no statistics. */
static const oracle_layout *random_layout(calc_rng *rng, const oracle *all)
{
    size_t first = (size_t)calc_rng_below(rng, (uint32_t)all->count);
    for (size_t i = 0; i < all->count; i++) {
        const oracle_layout *layout = &all->layout[(first + i) % all->count];
        if (layout->verdict == CALC_VERDICT_OK) {
            return layout;
        }
    }
    return NULL;
}

static void sweep(const random_space *s, const calc_sweep_options *options,
                  calc_sweep_result *result)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_sweep(&s->space, &s->designs, options, result, &errors), CALC_OK);
}

void assert_conditions_filter(const random_space *s, const oracle *all,
                              const calc_sweep_options *options)
{
    calc_rng rng;
    calc_rng_init(&rng, s->seed, 5);
    for (int draw = 0; draw < DRAWS && all->count > 0; draw++) {
        calc_constraint condition[MOST_CONDITIONS];
        calc_sweep_options o = *options;
        calc_sweep_result want, got;
        const oracle_layout *layout = random_layout(&rng, all);
        if (!layout) {
            return;
        }
        o.constraints = 1 + (size_t)calc_rng_below(&rng, MOST_CONDITIONS);
        o.constraint = condition;
        char what[256] = "conditions:";
        for (size_t i = 0; i < o.constraints; i++) {
            size_t used = strlen(what);
            condition[i] = random_condition(&rng, layout);
            snprintf(what + used, sizeof what - used, " %s %d %.17g", condition[i].field->key,
                     (int)condition[i].relation, condition[i].value);
        }
        oracle_sweep(all, s, &o, &want);
        o.threads = 1 + draw % 3;
        o.no_prune = false;
        sweep(s, &o, &got);
        assert_same_groups(s, &got, &want, what);
        calc_sweep_result_free(&got);
        o.no_prune = true;
        sweep(s, &o, &got);
        assert_same_groups(s, &got, &want, what);
        assert_same_counts(s, &got.counts, &want.counts, what);
        calc_sweep_result_free(&got);
        calc_sweep_result_free(&want);
    }
}
