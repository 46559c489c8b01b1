#include "oracle.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "classic.h"
#include "model/operators/transformer.h"
#include "model/stages/stages.h"
#include "spec/absent.h"
#include "units.h"

/* ---- Every layout ---------------------------------------------------------------------------- */

/* Where the loops are: the axes before `axis` have their values. */
typedef struct listing {
    oracle *out;
    const random_space *s;
    const calc_app *app;
    const calc_system *system;
    calc_compat compat;
    uint64_t design;
    calc_axis order[CALC_AXIS_EXEC_COUNT];
} listing;

static bool is_all(const listing *l, calc_axis axis)
{
    return l->s->space.axis[axis].all;
}

/* Whether the stages of two layouts are the same. */
static bool same_stages(const calc_stages *a, const calc_stages *b)
{
    bool same = a->fit == b->fit && a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++) {
#define CALC_X(member) same = same && a->item[i].member == b->item[i].member;
        CALC_STAGE_CLASS_LIST(CALC_X)
#undef CALC_X
    }
    return same;
}

/* Whether a layout has fields that change nothing, and another one of the space, which comes
 * before, has other values of them. */
static bool said_before(const listing *l, const calc_exec *e)
{
    const calc_space *s = &l->s->space;
    bool calculon = calc_compat_has(l->compat, CALC_COMPAT_EVEN_STAGES);
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        const calc_values *values = &s->axis[axis];
        if (values->count > 1 && calc_axis_get(e, (calc_axis)axis) != values->value[0] &&
            calc_idle(l->app, e, &calc_table_of(CALC_KIND_EXEC)->rows[axis])) {
            return true;
        }
    }
    calc_exec other = *e;
    for (int sharding = 0; sharding < 2; sharding++) {
        for (int64_t zero = 0; zero < 4; zero++) {
            other.strategy.optimizer_sharding = sharding != 0;
            other.strategy.zero_stage = zero;
            if (calc_space_has(s, CALC_AXIS_optimizer_sharding, sharding) &&
                calc_space_has(s, CALC_AXIS_zero_stage, zero) && calc_axis_compare(&other, e) < 0 &&
                calc_zero_stage(&other.strategy) == calc_zero_stage(&e->strategy)) {
                return true;
            }
        }
    }
    bool redo = e->strategy.seq_par_ag_redo;
    bool tiled = e->strategy.tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_RING ||
                 e->strategy.tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_PIPE;
    if (redo && (tiled || e->strategy.tensor_par == 1) && !calculon &&
        calc_space_has(s, CALC_AXIS_seq_par_ag_redo, false)) {
        return true;
    }
    for (int type = 0; type < (int)e->strategy.tensor_par_comm_type && !calculon; type++) {
        if (e->strategy.tensor_par == 1 && !redo &&
            calc_space_has(s, CALC_AXIS_tensor_par_comm_type, type)) {
            return true;
        }
    }
    calc_shape shape = calc_shape_of(l->app, &e->strategy, e->microbatch_size, e->seq_size);
    calc_stages stages = calc_stages_split(&shape, e, l->compat);
    other = *e;
    for (int balance = 0; balance < (int)e->pipeline_balance; balance++) {
        other.pipeline_balance = (calc_pipeline_balance)balance;
        calc_stages before = calc_stages_split(&shape, &other, l->compat);
        if (calc_space_has(s, CALC_AXIS_pipeline_balance, balance) &&
            e->pipeline_interleaving == 1 && e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_1F1B &&
            same_stages(&before, &stages)) {
            return true;
        }
    }
    return false;
}

/* What the search leaves out although it is legal: it is the same as something else, next to it, or
 * not in Calculon's. */
static bool searched_fields(const listing *l, const calc_exec *e)
{
    bool calculon = calc_compat_has(l->compat, CALC_COMPAT_EVEN_STAGES);
    bool modules = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_MODULES;
    bool attention = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    bool hidden = e->strategy.tensor_par_overlap > CALC_TENSOR_PAR_OVERLAP_PIPE;
    if (modules && !e->strategy.recompute_modules) {
        return false;
    }
    if (attention && e->strategy.flash_attention && is_all(l, CALC_AXIS_activation_recompute)) {
        return false;
    }
    if (hidden && calculon && is_all(l, CALC_AXIS_tensor_par_overlap)) {
        return false;
    }
    if (calc_compat_has(l->compat, CALC_COMPAT_LAYERS) &&
        calc_calculon_lacks(l->app, &e->strategy)) {
        return false;
    }
    return !said_before(l, e);
}

/* The stages and chunks that it takes where every legal number of them is wanted. */
static bool searched_stages(const listing *l, const calc_exec *e)
{
    bool calculon = calc_compat_has(l->compat, CALC_COMPAT_EVEN_STAGES);
    if (is_all(l, CALC_AXIS_pipeline_par) && calculon &&
        l->app->num_blocks % e->pipeline_par != 0) {
        return false;
    }
    calc_shape shape = calc_shape_of(l->app, &e->strategy, e->microbatch_size, e->seq_size);
    return !is_all(l, CALC_AXIS_pipeline_interleaving) ||
           calc_stages_split(&shape, e, l->compat).fit;
}

/* Rules of the search for axes that take every legal value, beyond calc_check(). */
static bool searched(const listing *l, const calc_exec *e)
{
    bool tier2 = l->system->chip.mem2.capacity_bytes > 0;
    bool full = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    int64_t seq = l->app->seq_size / (e->strategy.context_par > 1 ? e->strategy.context_par : 1);
    if (!searched_fields(l, e) || !searched_stages(l, e)) {
        return false;
    }
    if (is_all(l, CALC_AXIS_microbatch_size) &&
        e->microbatch_size * seq % e->strategy.tensor_par != 0) {
        return false;
    }
    if (is_all(l, CALC_AXIS_datatype) && e->strategy.datatype != calc_units_datatype(l->system)) {
        return false;
    }
    if (is_all(l, CALC_AXIS_weight_offload) && e->strategy.weight_offload && !tier2) {
        return false;
    }
    if (is_all(l, CALC_AXIS_optimizer_offload) && e->strategy.optimizer_offload && !tier2) {
        return false;
    }
    return !(is_all(l, CALC_AXIS_activations_offload) && e->strategy.activations_offload &&
             (!tier2 || full));
}

static void add_one(const listing *l, const calc_exec *e)
{
    oracle *o = l->out;
    if (e->pipeline_par > l->app->num_blocks || !searched(l, e)) {
        return;
    }
    if (o->count == o->capacity) {
        o->capacity = o->capacity > 0 ? 2 * o->capacity : 1024;
        o->layout = realloc(o->layout, o->capacity * sizeof *o->layout);
        ck_assert_ptr_nonnull(o->layout);
    }
    oracle_layout *layout = &o->layout[o->count++];
    memset(layout, 0, sizeof *layout);
    layout->found = calc_found_of(l->design, e);
    layout->verdict = calc_run(l->app, l->system, e, l->compat, &layout->stats);
}

/* Chunks come in rounds of a micro-batch per stage: where the batch is a maximum, interleaved
 * layouts that do not fill their last round stand for the largest batch that does, too. */
static void add_layout(const listing *l, const calc_exec *e)
{
    add_one(l, e);
    int64_t round = e->strategy.data_par * e->microbatch_size * e->pipeline_par;
    bool even = calc_compat_has(l->compat, CALC_COMPAT_EVEN_STAGES);
    if (even || !l->s->space.batch_is_maximum || e->pipeline_interleaving == 1 ||
        e->batch_size % round == 0) {
        return;
    }
    const calc_values *batches = &l->s->space.axis[CALC_AXIS_batch_size];
    size_t at = 0;
    while (batches->value[at] - batches->value[at] % e->strategy.data_par != e->batch_size) {
        at++;
    }
    calc_exec whole = *e;
    whole.batch_size = batches->value[at] - batches->value[at] % round;
    if (whole.batch_size > (at > 0 ? batches->value[at - 1] : 0)) {
        add_one(l, &whole);
    }
}

/* Whether a value of an axis is one of every legal value: those that are not a range. */
static bool is_legal(const listing *l, calc_axis axis, const calc_exec *e, int64_t value)
{
    switch (axis) {
    case CALC_AXIS_context_par:
        return (value & (value - 1)) == 0;
    case CALC_AXIS_expert_tensor_par:
        return value == 1 || value == e->strategy.tensor_par;
    case CALC_AXIS_attention_type:
        return l->app->kv_lora_rank > 0 ? value == CALC_ATTENTION_TYPE_MULTI_LATENT
               : l->app->kv_heads > 0   ? value == CALC_ATTENTION_TYPE_GROUPED_QUERY
                                        : value <= CALC_ATTENTION_TYPE_MULTIQUERY;
    default:
        return true;
    }
}

/* The range that the values of an axis lie in, if every legal value is wanted. */
static int64_t last_value(const listing *l, calc_axis axis, const calc_exec *e)
{
    switch (axis) {
    case CALC_AXIS_tensor_par:
    case CALC_AXIS_pipeline_par:
    case CALC_AXIS_data_par:
        return e->num_procs;
    case CALC_AXIS_tensor_par_net:
        return e->strategy.tensor_par > 1 ? l->system->networks_count - 1 : 0;
    case CALC_AXIS_pipeline_par_net:
        return e->pipeline_par > 1 ? l->system->networks_count - 1 : 0;
    case CALC_AXIS_data_par_net:
        return e->strategy.data_par > 1 ? l->system->networks_count - 1 : 0;
    case CALC_AXIS_microbatch_size:
        return e->batch_size;
    case CALC_AXIS_pipeline_interleaving:
        return l->app->num_blocks;
    case CALC_AXIS_datatype:
        return CLASSIC_DATATYPES - 1;
    case CALC_AXIS_tensor_par_comm_type:
        return 2;
    case CALC_AXIS_activation_recompute:
        return 3;
    case CALC_AXIS_tensor_par_overlap:
    case CALC_AXIS_attention_type:
        return 4;
    case CALC_AXIS_context_par:
        return 64;
    case CALC_AXIS_expert_par:
        return l->app->num_experts > 1 ? l->app->num_experts : 1;
    case CALC_AXIS_expert_tensor_par:
        return l->app->num_experts > 0 ? l->app->attn_heads : 1;
    default:
        return 1;
    }
}

static bool is_idle_network(calc_axis axis, const calc_exec *e)
{
    bool ordered = e->rank_order != CALC_RANK_ORDER_NETWORKS;
    return (axis == CALC_AXIS_tensor_par_net && (e->strategy.tensor_par == 1 || ordered)) ||
           (axis == CALC_AXIS_pipeline_par_net && (e->pipeline_par == 1 || ordered)) ||
           (axis == CALC_AXIS_data_par_net && (e->strategy.data_par == 1 || ordered));
}

/* Whether a layout may be legal once the axes from `axis` on have their values: what those decide
 * is made harmless. */
static bool may_be_legal(const listing *l, calc_axis axis, calc_exec e)
{
    if (axis < CALC_AXIS_attention_type) {
        e.strategy.flash_attention = true;
    }
    if (axis < CALC_AXIS_activation_recompute) {
        e.strategy.recompute_modules = 0;
    }
    if (axis < CALC_AXIS_tensor_par_comm_type) {
        e.strategy.expert_par = 0;
        e.strategy.expert_tensor_par = 0;
    }
    if (axis < CALC_AXIS_training) {
        e.training = true;
    }
    return calc_check(l->app, l->system, &e, NULL) == CALC_OK;
}

/* The order of the axes: those that an execution may leave out come first. */
static void order_axes(listing *l)
{
    size_t count = 0;
    for (int optional = 1; optional >= 0; optional--) {
        for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
            if (calc_axis_is_optional((calc_axis)axis) == (optional == 1)) {
                l->order[count++] = (calc_axis)axis;
            }
        }
    }
}

/* Give an axis each of its values, and those behind it all of theirs. Axes that have no value yet
 * are as harmless as they can be: what is illegal now stays so. */
static void list_axis(const listing *l, int at, calc_exec e)
{
    if (at == CALC_AXIS_EXEC_COUNT) {
        add_layout(l, &e);
        return;
    }
    calc_axis axis = l->order[at];
    int64_t context_par = e.strategy.context_par > 1 ? e.strategy.context_par : 1;
    if (axis == CALC_AXIS_tensor_par_net &&
        e.strategy.tensor_par * e.pipeline_par * e.strategy.data_par * context_par != e.num_procs) {
        return;
    }
    if (axis == CALC_AXIS_pipeline_par && is_all(l, CALC_AXIS_expert_tensor_par) &&
        !is_legal(l, CALC_AXIS_expert_tensor_par, &e, e.strategy.expert_tensor_par)) {
        return;
    }
    const calc_values *v = &l->s->space.axis[axis];
    int64_t first = axis < CALC_AXIS_tensor_par_net || axis == CALC_AXIS_microbatch_size ||
                    axis == CALC_AXIS_pipeline_interleaving || axis == CALC_AXIS_context_par ||
                    axis == CALC_AXIS_expert_par || axis == CALC_AXIS_expert_tensor_par;
    int64_t count = v->all ? last_value(l, axis, &e) - first + 1 : (int64_t)v->count;
    if (is_idle_network(axis, &e) && count > 1) {
        count = 1; /* a network that nothing uses does not matter */
    }
    if (axis == CALC_AXIS_source || axis == CALC_AXIS_stages || axis == CALC_AXIS_layers ||
        axis == CALC_AXIS_software) {
        count = 1; /* no axes */
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t value = v->all ? first + i : v->value[i];
        if (v->all && axis != CALC_AXIS_expert_tensor_par && !is_legal(l, axis, &e, value)) {
            continue;
        }
        if (axis == CALC_AXIS_batch_size && l->s->space.batch_is_maximum) {
            value -= value % e.strategy.data_par;
            bool again = i > 0 && v->value[i - 1] >= value; /* the one before stands for it */
            if (value == 0 || again) {
                continue;
            }
        }
        /* What was checked and does not change need not be checked again. */
        bool sized = !calc_axis_is_optional(axis) && axis >= CALC_AXIS_microbatch_size;
        calc_axis_put(&e, axis, value);
        if (!sized || may_be_legal(l, axis, e)) {
            list_axis(l, at + 1, e);
        }
    }
}

void oracle_make(oracle *out, const random_space *s, calc_compat compat)
{
    *out = (oracle){0};
    for (uint64_t d = 0; d < s->designs.count; d++) {
        listing l = {out, s, &s->app[d], &s->system[d], compat, d, {CALC_AXIS_source}};
        order_axes(&l);
        calc_exec harmless;
        calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &harmless);
        harmless.pipeline_interleaving = 1;
        harmless.strategy.datatype = calc_units_datatype(&s->system[d]);
        harmless.training = true;
        list_axis(&l, 0, harmless);
    }
}

void oracle_free(oracle *o)
{
    free(o->layout);
    *o = (oracle){0};
}

/* ---- The best of them ------------------------------------------------------------------------ */

/* What qsort() compares by; it has no room for a context. */
static size_t compared_objectives;

static int compare_found(const void *x, const void *y)
{
    const calc_found *a = x;
    const calc_found *b = y;
    for (size_t i = 0; i < compared_objectives; i++) {
        if (a->objective[i] != b->objective[i]) {
            return a->objective[i] < b->objective[i] ? -1 : 1;
        }
    }
    return calc_found_compare(a, b);
}

static bool dominates_or_equals(const calc_found *a, const calc_found *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a->objective[i] > b->objective[i]) {
            return false;
        }
    }
    return true;
}

static calc_front copy_of(const calc_found *found, size_t count)
{
    calc_front list = {.count = count, .capacity = count};
    list.item = malloc((count + 1) * sizeof *list.item);
    ck_assert_ptr_nonnull(list.item);
    memcpy(list.item, found, count * sizeof *list.item);
    return list;
}

/* In order of the objectives whatever is better comes first, and the first of equals does. */
static calc_front front_of(calc_found *found, size_t count, size_t objectives)
{
    compared_objectives = objectives;
    qsort(found, count, sizeof *found, compare_found);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool beaten = false;
        for (size_t j = 0; j < kept && !beaten; j++) {
            beaten = dominates_or_equals(&found[j], &found[i], objectives);
        }
        if (!beaten) {
            calc_found one = found[i];
            found[kept++] = one;
        }
    }
    return copy_of(found, kept);
}

static calc_front top_of(calc_found *found, size_t count, size_t limit)
{
    compared_objectives = 1;
    qsort(found, count, sizeof *found, compare_found);
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < limit; i++) {
        if (kept == 0 || compare_found(&found[kept - 1], &found[i]) != 0) {
            calc_found one = found[i];
            found[kept++] = one;
        }
    }
    return copy_of(found, kept);
}

/* Group of a layout. */
static size_t group_of(const random_space *s, const calc_sweep_options *o, const calc_found *found)
{
    const calc_values *procs = &s->space.axis[CALC_AXIS_num_procs];
    const calc_exec exec = calc_found_exec(found);
    size_t at = 0;
    while (procs->value[at] != exec.num_procs) {
        at++;
    }
    size_t groups = o->per_num_procs ? procs->count : 1;
    return (o->per_design ? found->design * groups : 0) + (o->per_num_procs ? at : 0);
}

static bool meets_constraints(const calc_sweep_options *options, const oracle_layout *layout)
{
    const calc_exec exec = calc_found_exec(&layout->found);
    for (size_t i = 0; i < options->constraints; i++) {
        if (!calc_constraint_met(&options->constraint[i], &exec, &layout->stats)) {
            return false;
        }
    }
    return true;
}

static void count_layout(calc_sweep_counts *counts, const oracle_layout *layout, bool met)
{
    bool feasible = layout->verdict == CALC_VERDICT_OK;
    counts->total++;
    counts->evaluated += feasible || layout->verdict == CALC_VERDICT_MEM1_CAPACITY ||
                         layout->verdict == CALC_VERDICT_MEM2_CAPACITY;
    counts->feasible += feasible;
    counts->filtered += feasible && !met;
    counts->rejected[layout->verdict] += !feasible;
}

void oracle_sweep(const oracle *o, const random_space *s, const calc_sweep_options *options,
                  calc_sweep_result *out)
{
    size_t groups = options->per_num_procs ? s->space.axis[CALC_AXIS_num_procs].count : 1;
    *out =
        (calc_sweep_result){.groups_count = groups * (options->per_design ? s->designs.count : 1)};
    out->group = calloc(out->groups_count, sizeof *out->group);
    calc_found *found = malloc((o->count + 1) * sizeof *found);
    ck_assert(out->group && found);
    for (size_t i = 0; i < o->count; i++) {
        count_layout(&out->counts, &o->layout[i], meets_constraints(options, &o->layout[i]));
    }
    for (size_t g = 0; g < out->groups_count; g++) {
        for (int by_top = 0; by_top < 2; by_top++) {
            size_t count = 0;
            for (size_t i = 0; i < o->count; i++) {
                const oracle_layout *layout = &o->layout[i];
                if (layout->verdict != CALC_VERDICT_OK || !meets_constraints(options, layout) ||
                    group_of(s, options, &layout->found) != g) {
                    continue;
                }
                found[count] = layout->found;
                for (size_t k = 0; k < options->objectives && !by_top; k++) {
                    found[count].objective[k] =
                        calc_objective_of(&options->objective[k], &layout->stats);
                }
                if (by_top && options->top > 0) {
                    found[count].objective[0] = calc_objective_of(&options->top_by, &layout->stats);
                }
                count++;
            }
            if (by_top && options->top > 0) {
                out->group[g].top = top_of(found, count, options->top);
            } else if (!by_top && options->objectives > 0) {
                out->group[g].front = front_of(found, count, options->objectives);
            }
        }
    }
    free(found);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static bool same_found(const calc_found *a, const calc_found *b)
{
    return memcmp(a->objective, b->objective, sizeof a->objective) == 0 &&
           calc_found_compare(a, b) == 0;
}

static void print_found(const char *name, const calc_found *f)
{
    fprintf(stderr, "%s: %.17g %.17g %.17g %.17g design %llu:", name, f->objective[0],
            f->objective[1], f->objective[2], f->objective[3], (unsigned long long)f->design);
    const calc_exec exec = calc_found_exec(f);
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        fprintf(stderr, " %lld", (long long)calc_axis_get(&exec, (calc_axis)axis));
    }
    fprintf(stderr, "\n");
}

static void assert_same_list(const random_space *s, const calc_front *got, const calc_front *want,
                             const char *list, size_t group, const char *what)
{
    for (size_t i = 0; i < got->count || i < want->count; i++) {
        if (i < got->count && i < want->count && same_found(&got->item[i], &want->item[i])) {
            continue;
        }
        random_space_print(s, stderr);
        if (i < got->count) {
            print_found("got", &got->item[i]);
        }
        if (i < want->count) {
            print_found("want", &want->item[i]);
        }
        ck_abort_msg("%s, seed %llu: entry %zu of the %s of group %zu differs (%zu entries, want "
                     "%zu)",
                     what, (unsigned long long)s->seed, i, list, group, got->count, want->count);
    }
}

void assert_same_groups(const random_space *s, const calc_sweep_result *got,
                        const calc_sweep_result *want, const char *what)
{
    ck_assert_uint_eq(got->groups_count, want->groups_count);
    for (size_t g = 0; g < got->groups_count; g++) {
        assert_same_list(s, &got->group[g].front, &want->group[g].front, "front", g, what);
        assert_same_list(s, &got->group[g].top, &want->group[g].top, "best", g, what);
    }
}

static void assert_same_count(const random_space *s, uint64_t got, uint64_t want, const char *name,
                              const char *what)
{
    if (got != want) {
        random_space_print(s, stderr);
        ck_abort_msg("%s, seed %llu: %llu %s, not %llu", what, (unsigned long long)s->seed,
                     (unsigned long long)got, name, (unsigned long long)want);
    }
}

void assert_same_counts(const random_space *s, const calc_sweep_counts *got,
                        const calc_sweep_counts *want, const char *what)
{
    assert_same_count(s, got->total, want->total, "in all", what);
    assert_same_count(s, got->evaluated, want->evaluated, "evaluated", what);
    assert_same_count(s, got->feasible, want->feasible, "feasible", what);
    assert_same_count(s, got->filtered, want->filtered, "filtered", what);
    assert_same_count(s, got->skipped, want->skipped, "skipped", what);
    for (int v = 0; v < CALC_VERDICT_COUNT; v++) {
        assert_same_count(s, got->rejected[v], want->rejected[v],
                          calc_verdict_text((calc_verdict)v), what);
    }
}
