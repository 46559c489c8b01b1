#include "random_space.h"

#include <check.h>

#include "classic.h"
#include "random_modern.h"
#include "units.h"

/* ---- Applications and machines --------------------------------------------------------------- */

static int64_t pick(calc_rng *rng, const int64_t *values, size_t count)
{
    return values[calc_rng_below(rng, (uint32_t)count)];
}
#define PICK(rng, ...)                                                                             \
    pick(rng, (const int64_t[]){__VA_ARGS__},                                                      \
         sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static bool coin(calc_rng *rng)
{
    return calc_rng_below(rng, 2) == 1;
}

static double real_between(calc_rng *rng, double lo, double hi)
{
    return lo + (hi - lo) * calc_rng_real(rng);
}

static calc_app random_app(calc_rng *rng)
{
    int64_t heads = PICK(rng, 1, 2, 4, 6, 8, 12);
    int64_t size = PICK(rng, 8, 16, 48, 64);
    return (calc_app){.hidden = heads * size * PICK(rng, 1, 1, 2),
                      .feedforward = heads * size * PICK(rng, 1, 3, 4),
                      .seq_size = PICK(rng, 1, 6, 128, 512, 2048),
                      .attn_heads = heads,
                      .attn_size = size,
                      .num_blocks = PICK(rng, 1, 2, 3, 5, 6, 7, 8, 12)};
}

static calc_curve random_curve(calc_rng *rng, double largest)
{
    calc_curve curve = {.count = 1 + calc_rng_below(rng, 4)};
    for (int64_t i = 0; i < curve.count; i++) {
        curve.threshold[i] = largest;
        curve.efficiency[i] = real_between(rng, 0.05, 1);
        largest /= real_between(rng, 2, 50);
    }
    curve.threshold[curve.count - 1] = 0;
    return curve;
}

static calc_network random_network(calc_rng *rng)
{
    double offset = -(double)calc_rng_below(rng, 2);
    return (calc_network){
        .bytes_per_s = real_between(rng, 1e8, 1e12),
        .efficiency = real_between(rng, 0.1, 1),
        .size = PICK(rng, 2, 4, 8, 16, 1024),
        .latency_s = coin(rng) ? 0 : real_between(rng, 1e-7, 1e-4),
        .ops = {.p2p = {1, 0},
                .reduce_scatter = {real_between(rng, 0.5, 2), offset},
                .all_gather = {real_between(rng, 0.5, 2), offset},
                .all_reduce = {real_between(rng, 1, 4), offset}},
        .must_be_filled = calc_rng_below(rng, 4) == 0,
        .processor_usage = coin(rng) ? 0 : real_between(rng, 0, 0.5),
    };
}

static calc_system random_system(calc_rng *rng)
{
    calc_system s = {.chip.processing_mode = coin(rng) ? CALC_PROCESSING_MODE_ROOFLINE
                                                       : CALC_PROCESSING_MODE_NO_OVERLAP};
    for (int type = 0; type < CLASSIC_DATATYPES; type++) {
        s.chip.matrix[type] = (calc_engine){real_between(rng, 1e13, 2e15), random_curve(rng, 1e10)};
        s.chip.vector[type] = (calc_engine){real_between(rng, 1e12, 2e14), random_curve(rng, 1e8)};
    }
    s.chip.matrix[CALC_DATATYPE_FLOAT16].flop_per_s *= coin(rng);
    s.chip.mem1 = (calc_memory_tier){.bytes_per_s = real_between(rng, 1e11, 8e12),
                                     .efficiency = random_curve(rng, 1e8)};
    s.chip.mem2 = (calc_memory_tier){.bytes_per_s = real_between(rng, 1e9, 1e12),
                                     .efficiency = random_curve(rng, 1e8)};
    s.networks_count = 1 + calc_rng_below(rng, 3);
    for (int64_t i = 0; i < s.networks_count; i++) {
        s.networks[i] = random_network(rng);
    }
    return s;
}

/* Capacities that some layouts exceed: multiples of what one layout needs. */
static void size_memories(calc_rng *rng, const calc_app *app, calc_system *system)
{
    calc_exec one = {CLASSIC_EXEC,
                     .num_procs = 1,
                     .strategy.tensor_par = 1,
                     .pipeline_par = 1,
                     .strategy.data_par = 1,
                     .batch_size = 2,
                     .microbatch_size = 1,
                     .strategy.datatype = calc_units_datatype(system),
                     .pipeline_interleaving = 1,
                     .training = true};
    calc_stats stats;
    calc_run(app, system, &one, CALC_COMPAT_NONE, &stats);
    system->chip.mem1.capacity_bytes = stats.proc_mem_tier1_cap_req * real_between(rng, 0.2, 2);
    system->chip.mem2.capacity_bytes =
        coin(rng) ? 0 : stats.proc_mem_tier1_cap_req * real_between(rng, 0.1, 1);
}

static void get_design(const void *context, uint64_t index, calc_app *app, calc_system *system)
{
    const random_space *s = context;
    *app = s->app[index];
    *system = s->system[index];
}

/* ---- Spaces ---------------------------------------------------------------------------------- */

static void set_axis(calc_space *space, calc_axis axis, const int64_t *values, size_t count)
{
    ck_assert_int_eq(calc_space_set(space, axis, values, count), CALC_OK);
}

/* A list of some of the values, which may repeat; `common` in 4 times everything legal. */
static void random_axis(calc_rng *rng, calc_space *space, calc_axis axis, uint32_t common,
                        const int64_t *values, size_t count)
{
    if (calc_rng_below(rng, 4) < common) {
        calc_space_set_all(space, axis);
        return;
    }
    int64_t list[8];
    size_t length = 1 + calc_rng_below(rng, 3);
    for (size_t i = 0; i < length; i++) {
        list[i] = pick(rng, values, count);
    }
    set_axis(space, axis, list, length);
}
#define RANDOM_AXIS(rng, space, axis, common, ...)                                                 \
    random_axis(rng, space, CALC_AXIS_##axis, common, (const int64_t[]){__VA_ARGS__},              \
                sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void random_axes(calc_rng *rng, calc_space *space)
{
    ck_assert_int_eq(calc_space_init(space), CALC_OK);
    space->batch_is_maximum = coin(rng);
    RANDOM_AXIS(rng, space, num_procs, 0, 1, 2, 4, 6, 8, 8, 12, 16, 16, 24, 32);
    RANDOM_AXIS(rng, space, tensor_par, 3, 1, 2, 3, 4, 6, 8);
    RANDOM_AXIS(rng, space, pipeline_par, 2, 1, 2, 3, 4, 5, 6, 8);
    RANDOM_AXIS(rng, space, data_par, 3, 1, 2, 3, 4, 8);
    RANDOM_AXIS(rng, space, tensor_par_net, 3, 0, 1, 2);
    RANDOM_AXIS(rng, space, pipeline_par_net, 3, 0, 1, 2);
    RANDOM_AXIS(rng, space, data_par_net, 3, 0, 1, 2);
    RANDOM_AXIS(rng, space, batch_size, 0, 1, 4, 7, 12, 16, 24, 32);
    RANDOM_AXIS(rng, space, microbatch_size, 3, 1, 2, 3, 4, 8);
    RANDOM_AXIS(rng, space, datatype, 2, CALC_DATATYPE_FLOAT8, CALC_DATATYPE_FLOAT16,
                CALC_DATATYPE_BFLOAT16, CALC_DATATYPE_FLOAT32);
    RANDOM_AXIS(rng, space, fused_activation, 1, 0, 1);
    RANDOM_AXIS(rng, space, attention_type, 1, CALC_ATTENTION_TYPE_MULTIHEAD,
                CALC_ATTENTION_TYPE_MULTIQUERY);
    RANDOM_AXIS(rng, space, activation_recompute, 2, 0, 1, 2);
    RANDOM_AXIS(rng, space, pipeline_interleaving, 3, 1, 2, 3, 4, 7);
    RANDOM_AXIS(rng, space, optimizer_sharding, 2, 0, 1);
    RANDOM_AXIS(rng, space, tensor_par_comm_type, 2, 0, 1, 2);
    RANDOM_AXIS(rng, space, tensor_par_overlap, 2, 0, 1, 2);
    RANDOM_AXIS(rng, space, seq_par_ag_redo, 2, 0, 1);
    RANDOM_AXIS(rng, space, data_par_overlap, 2, 0, 1);
    RANDOM_AXIS(rng, space, weight_offload, 2, 0, 1);
    RANDOM_AXIS(rng, space, activations_offload, 2, 0, 1);
    RANDOM_AXIS(rng, space, optimizer_offload, 2, 0, 1);
    RANDOM_AXIS(rng, space, training, 1, 1, 1, 0);
}

static void make(random_space *out, uint64_t seed, uint64_t most, bool modern)
{
    calc_rng rng;
    calc_rng_init(&rng, seed, 1);
    *out = (random_space){.seed = seed};
    bool mixed = modern && seed % 4 == 0;
    do {
        random_space_free(out);
        for (int d = 0; d < RANDOM_DESIGNS; d++) {
            out->app[d] = random_app(&rng);
            out->system[d] = random_system(&rng);
            if (modern && !mixed && calc_rng_below(&rng, 3) > 0) {
                random_modern_app(&rng, &out->app[d]);
            }
            if (modern && !mixed && calc_rng_below(&rng, 3) > 0) {
                random_modern_system(&rng, &out->system[d]);
            }
            size_memories(&rng, &out->app[d], &out->system[d]);
        }
        out->designs = (calc_designs){
            .count = 1 + calc_rng_below(&rng, RANDOM_DESIGNS), .get = get_design, .context = out};
        random_axes(&rng, &out->space);
        if (mixed) {
            random_mixed_axes(&rng, &out->space);
        } else if (modern) {
            random_modern_axes(&rng, &out->space);
        }
        ck_assert_int_eq(
            calc_sweep_count(&out->space, &out->designs, CALC_COMPAT_NONE, &out->counts), CALC_OK);
    } while (out->counts.total == 0 || out->counts.total > most);
}

void random_space_make(random_space *out, uint64_t seed, uint64_t most)
{
    make(out, seed, most, false);
}

void random_space_make_modern(random_space *out, uint64_t seed, uint64_t most)
{
    make(out, seed, most, true);
}

void random_space_free(random_space *s)
{
    calc_space_free(&s->space);
}

static calc_objective random_objective(calc_rng *rng)
{
    static const char *const texts[] = {"sample_rate", "total_time", "mem1", "mem2", "sample_rate",
                                        "total_time", "mem1", "mem2",
                                        /* where a bound proves nothing */
                                        "sample_rate:down", "total_time:up", "mem1:up"};
    calc_objective o;
    const char *text = texts[calc_rng_below(rng, sizeof texts / sizeof *texts)];
    ck_assert_int_eq(calc_objective_parse(&o, text, NULL), CALC_OK);
    return o;
}

void random_space_count(random_space *s, calc_compat compat)
{
    ck_assert_int_eq(calc_sweep_count(&s->space, &s->designs, compat, &s->counts), CALC_OK);
}

calc_compat random_compat(calc_rng *rng)
{
    switch (calc_rng_below(rng, 4)) {
    case 0:
        return CALC_COMPAT_CALCULON;
    case 1:
        return CALC_COMPAT_REPAIRED;
    case 2:
        return (calc_compat)calc_rng_below(rng, 1u << CALC_COMPAT_COUNT);
    default:
        return CALC_COMPAT_NONE;
    }
}

calc_sweep_options random_options(calc_rng *rng)
{
    calc_sweep_options o = {
        .compat = random_compat(rng),
        .objectives = calc_rng_below(rng, CALC_MAX_OBJECTIVES + 1),
        .top = coin(rng) ? calc_rng_below(rng, 40) : 0,
        .top_by = random_objective(rng),
        .per_num_procs = coin(rng),
        .per_design = coin(rng),
        .threads = 1,
    };
    for (size_t i = 0; i < o.objectives; i++) {
        o.objective[i] = random_objective(rng);
    }
    return o;
}

void random_space_print(const random_space *s, FILE *out)
{
    fprintf(out, "seed %llu:%s", (unsigned long long)s->seed,
            s->space.batch_is_maximum ? " batch is maximum;" : "");
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        const calc_values *v = &s->space.axis[axis];
        if (v->all ? calc_axis_is_optional((calc_axis)axis) : !v->standard) {
            fprintf(out, " %s%s", calc_table_of(CALC_KIND_EXEC)->rows[axis].key,
                    v->all ? "=*" : "");
            for (size_t i = 0; i < v->count; i++) {
                fprintf(out, "%c%.15g", i > 0 ? ',' : '=',
                        calc_axis_number((calc_axis)axis, v->value[i]));
            }
        }
    }
    fprintf(out, "\n");
}
