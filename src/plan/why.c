#include "plan/why.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/value_text.h"

/* State while changes are tried. */
typedef struct search {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec; /* as it is */
    calc_why *out;
    bool no_context, no_expert; /* these sizes are absent, and stay so where they are not tried */
} search;

/* ---- One change ------------------------------------------------------------------------------ */

static void describe(void *context, const char *path, const calc_field *field, const char *from,
                     const char *to)
{
    (void)field;
    calc_why_change *change = context;
    calc_append(change->text, sizeof change->text, "%s%s %s -> %s", *change->text ? ", " : "", path,
                from, to);
}

static double value_of(const calc_why *why, const calc_stats *stats)
{
    return calc_member_number(why->counts, (const char *)stats + why->counts->offset);
}

/* Evaluate a changed execution; keep it if it can run and changes time or memory. */
static void try(search *s, const calc_exec *exec)
{
    calc_why *out = s->out;
    calc_errors errors = {0};
    calc_stats stats;
    calc_why_change change;
    change.text[0] = '\0';
    calc_value_differences(CALC_KIND_EXEC, s->exec, exec, describe, &change);
    for (size_t i = 0; i < out->count; i++) {
        if (strcmp(out->change[i].text, change.text) == 0) {
            return;
        }
    }
    bool twin = exec->strategy.zero_stage == 1 &&
                s->exec->strategy.zero_stage == 0; /* says optimizer_sharding */
    if (!change.text[0] || twin || out->count == CALC_WHY_CHANGES) {
        return;
    }
    out->tried++;
    if (calc_check(s->app, s->system, exec, &errors) == CALC_OK &&
        calc_run(s->app, s->system, exec, CALC_COMPAT_NONE, &stats) == CALC_VERDICT_OK &&
        (stats.total_time != out->before.total_time ||
         value_of(out, &stats) != value_of(out, &out->before) ||
         stats.proc_mem_tier1_cap_req != out->before.proc_mem_tier1_cap_req ||
         stats.proc_mem_tier2_cap_req != out->before.proc_mem_tier2_cap_req)) {
        change.exec = *exec;
        calc_strategy *kept = &change.exec.strategy;
        kept->context_par -= s->no_context && kept->context_par == 1;
        kept->expert_par -= s->no_expert && kept->expert_par == 1;
        change.value = value_of(out, &stats);
        change.tier1_bytes = stats.proc_mem_tier1_cap_req;
        out->change[out->count++] = change;
    }
}

/* ---- Single fields --------------------------------------------------------------------------- */

bool calc_why_keeps(const calc_field *field, const calc_exec *exec)
{
    static const char given[] =
        "num_procs batch_size seq_size structure_type training attention_type "
        "capacity_factor moe_imbalance rank_capacity_factor paged_stash memory_model "
        "framework_mem software_efficiency eager recompute_early_stop unfused_rope "
        "unfused_norm unfused_experts fused_experts looped_experts optimizer "
        "attention_kernel rank_order scaling images_per_sequence patches_per_image "
        "encoder_trained packed_size padding_share loss_share trained trained_blocks "
        "lora_rank lora_modules lora_experts lora_fused lora_dropout dora";
    size_t length = strlen(field->key);
    bool format = length >= 8 && strcmp(field->key + length - 8, "datatype") == 0;
    /* Engines that serve wait for their collectives. */
    bool waits = exec->inference.phase != CALC_INFERENCE_PHASE_NONE &&
                 strcmp(field->key, "tensor_par_overlap") == 0;
    return format || waits || calc_is_word(given, field->key);
}

/* Sizes whose product is fixed: they change in pairs. */
static const char *const parallel[] = {"tensor_par", "pipeline_par", "data_par", "context_par"};
enum { PARALLEL = sizeof parallel / sizeof *parallel };

static void try_number(search *s, const calc_field *field, int64_t value)
{
    calc_exec exec = *s->exec;
    if (calc_field_in_range(field, (double)value)) {
        *(int64_t *)(void *)((char *)&exec + field->offset) = value;
        try(s, &exec);
    }
}

static void try_field(search *s, const calc_field *field)
{
    calc_exec exec = *s->exec;
    void *member = (char *)&exec + field->offset;
    int64_t now =
        field->type == CALC_TYPE_INT || field->type == CALC_TYPE_SET ? *(const int64_t *)member : 0;
    switch (field->type) {
    case CALC_TYPE_BOOL:
        *(bool *)member = !*(bool *)member;
        try(s, &exec);
        break;
    case CALC_TYPE_ENUM:
        for (int i = 0; field->choices[i]; i++) {
            *(int *)member = i;
            try(s, &exec);
        }
        break;
    case CALC_TYPE_SET:
        for (int i = 0; field->choices[i]; i++) {
            try_number(s, &(const calc_field){.offset = field->offset}, now ^ (int64_t)1 << i);
        }
        break;
    case CALC_TYPE_INT:
        try_number(s, field, 2 * now);
        try_number(s, field, now % 2 == 0 ? now / 2 : now);
        try_number(s, field, now + 1);
        try_number(s, field, now - 1);
        break;
    case CALC_TYPE_REAL: /* a share: all or nothing */
        *(double *)member = 0;
        try(s, &exec);
        *(double *)member = fmin(1, field->hi);
        try(s, &exec);
        break;
    default:
        break;
    }
}

/* ---- Serving --------------------------------------------------------------------------------- */

/* How requests are batched and read: at twice and half the value; a field that is 0 at the value
 * that 0 stands for, or may stand for. */
static void try_served(search *s)
{
    const calc_strategy *strategy = &s->exec->strategy;
    const struct {
        size_t offset;
        int64_t absent;
    } served[] = {
        {offsetof(calc_inference, chunk_size), 4096},
        {offsetof(calc_inference, prefill_batch), 1},
        {offsetof(calc_inference, max_sequences), 0},
        {offsetof(calc_inference, redundant_experts), strategy->expert_par},
        {offsetof(calc_inference, prefill_tensor_par), strategy->tensor_par},
        {offsetof(calc_inference, prefill_expert_par), strategy->expert_par},
    };
    calc_exec graphs = *s->exec;
    graphs.inference.traits.eager = false;
    try(s, &graphs);
    for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
        calc_exec exec = *s->exec;
        int64_t *value = (int64_t *)(void *)((char *)&exec.inference + served[i].offset);
        int64_t now = *value > 0 ? *value : served[i].absent;
        const int64_t others[] = {2 * now, now / 2, now, 0};
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            *value = others[k];
            try(s, &exec);
        }
    }
}

/* ---- Parallel sizes -------------------------------------------------------------------------- */

static int64_t *size_of(calc_exec *exec, const char *key)
{
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_EXEC), key);
    return (int64_t *)(void *)((char *)exec + field->offset);
}

/* Move each prime factor of one size to another. */
static void try_pair(search *s, const char *from, const char *to)
{
    calc_exec exec = *s->exec;
    int64_t left = *size_of(&exec, from);
    for (int64_t prime = 2; prime * prime <= left || (prime <= left && left > 1); prime++) {
        if (left % prime != 0) {
            continue;
        }
        while (left % prime == 0) {
            left /= prime;
        }
        exec = *s->exec;
        int64_t *size = size_of(&exec, to);
        *size = (*size > 0 ? *size : 1) * prime;
        *size_of(&exec, from) /= prime;
        try(s, &exec);
    }
}

/* ---- Hardware -------------------------------------------------------------------------------- */

static void buy_all(search *s)
{
    for (size_t i = 0; i < calc_resources_rates(s->system); i++) {
        calc_why_change *change = &s->out->resource[s->out->resources++];
        calc_system system = *s->system;
        calc_stats stats;
        calc_resource_scale(&system, i, CALC_RESOURCE_MORE);
        calc_run(s->app, &system, s->exec, CALC_COMPAT_NONE, &stats);
        change->value = value_of(s->out, &stats);
        change->tier1_bytes = stats.proc_mem_tier1_cap_req;
        calc_resource_text(&system, i, false, change->text);
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* The statistic that ranks layouts, by workload. */
static void choose_counts(const calc_exec *exec, calc_why *out)
{
    calc_inference_phase phase = exec->inference.phase;
    bool serves = phase != CALC_INFERENCE_PHASE_NONE && phase != CALC_INFERENCE_PHASE_PREFILL;
    bool arrive = serves && exec->inference.arrival_rate > 0;
    out->up = serves && !arrive;
    out->counts = calc_table_find(calc_table_of(CALC_KIND_STATS), arrive    ? "request_time"
                                                                  : out->up ? "output_tokens_per_s"
                                                                            : "total_time");
}

double calc_why_gain(const calc_why *why, double value)
{
    double before = value_of(why, &why->before);
    return why->up ? value / before - 1 : 1 - value / before;
}

/* Smallest first; equals by memory, then by text, so that the order is fixed. */
static int compare(const void *left, const void *right)
{
    const calc_why_change *a = left, *b = right;
    return a->value != b->value               ? CALC_ORDER(a->value, b->value)
           : a->tier1_bytes != b->tier1_bytes ? CALC_ORDER(a->tier1_bytes, b->tier1_bytes)
                                              : strcmp(a->text, b->text);
}

/* Most first. */
static int compare_up(const void *left, const void *right)
{
    const calc_why_change *a = left;
    const calc_why_change *b = right;
    return a->value != b->value ? a->value > b->value ? -1 : 1 : compare(left, right);
}

void calc_why_find(const calc_app *app, const calc_system *system, const calc_exec *exec,
                   calc_why *out)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    calc_exec sized = *exec; /* sizes that are absent are 1, and are tried from there */
    search s = {.app = app,
                .system = system,
                .exec = &sized,
                .out = out,
                .no_context = exec->strategy.context_par == 0,
                .no_expert = app->num_experts > 0 && exec->strategy.expert_par == 0};
    sized.strategy.context_par += s.no_context;
    sized.strategy.expert_par += s.no_expert;
    memset(out, 0, sizeof *out);
    choose_counts(exec, out);
    calc_run(app, system, exec, CALC_COMPAT_NONE, &out->before);
    bool serves = exec->inference.phase != CALC_INFERENCE_PHASE_NONE;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        /* With others; or an engine that serves is not told it: sizes and how it batches it is. */
        bool tried = serves && strcmp(field->key, "expert_par") != 0 &&
                     strcmp(field->key, "expert_tensor_par") != 0;
        for (size_t k = 0; k < PARALLEL; k++) {
            tried = tried || strcmp(parallel[k], field->key) == 0;
        }
        if (!calc_why_keeps(field, exec) && !tried && !calc_idle(app, exec, field)) {
            try_field(&s, field);
        }
    }
    for (size_t i = 0; i < PARALLEL; i++) {
        for (size_t k = 0; k + serves < PARALLEL; k++) { /* no engine splits a context */
            if (i != k) {
                try_pair(&s, parallel[i], parallel[k]);
            }
        }
    }
    if (serves) {
        try_served(&s);
    }
    CALC_SORT(out->change, out->count, out->up ? compare_up : compare);
    buy_all(&s);
}

/* ---- Resources ------------------------------------------------------------------------------- */

/* Resources before and after the networks, in order. */
enum { MATRIX, VECTOR, MEM1, MEM2, NETWORKS };
enum { CAPACITY1, CAPACITY2, CAPACITIES };

size_t calc_resources_rates(const calc_system *system)
{
    return NETWORKS + (size_t)system->networks_count;
}

size_t calc_resources_count(const calc_system *system)
{
    return calc_resources_rates(system) + CAPACITIES;
}

static size_t capacity_index(const calc_system *system, size_t which)
{
    return which - calc_resources_rates(system);
}

bool calc_resource_there(const calc_system *system, size_t which)
{
    bool second = which == MEM2 || (which >= calc_resources_rates(system) &&
                                    capacity_index(system, which) == CAPACITY2);
    return !second || system->chip.mem2.capacity_bytes > 0;
}

static void scale_engine(calc_engine *engine, double factor)
{
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        engine[i].flop_per_s *= factor;
    }
}

void calc_resource_scale(calc_system *system, size_t which, double factor)
{
    switch (which) {
    case MATRIX:
        scale_engine(system->chip.matrix, factor);
        return;
    case VECTOR:
        scale_engine(system->chip.vector, factor);
        return;
    case MEM1:
        system->chip.mem1.bytes_per_s *= factor;
        return;
    case MEM2:
        system->chip.mem2.bytes_per_s *= factor;
        return;
    default:
        break;
    }
    if (which < calc_resources_rates(system)) {
        system->networks[which - NETWORKS].bytes_per_s *= factor;
    } else if (capacity_index(system, which) == CAPACITY1) {
        system->chip.mem1.capacity_bytes *= factor;
    } else {
        system->chip.mem2.capacity_bytes *= factor;
    }
}

/* What people call a network: by its number, too, where another one is called the same. */
static void network_name(const calc_system *system, size_t which, char name[32])
{
    calc_network_kind kind = system->networks[which].kind;
    size_t same = 0;
    for (int64_t i = 0; i < system->networks_count; i++) {
        same += system->networks[i].kind == kind;
    }
    if (kind == CALC_NETWORK_KIND_UNNAMED) {
        snprintf(name, 32, which == 0 ? "the fastest network" : "network %zu", which);
    } else {
        snprintf(name, 32, same > 1 ? "%s, network %zu" : "%s", calc_network_kind_names[kind],
                 which);
    }
}

char *calc_resource_text(const calc_system *system, size_t which, bool people,
                         char text[CALC_RESOURCE_TEXT])
{
    bool rate = which < calc_resources_rates(system), network = rate && which >= NETWORKS;
    bool second = which == MEM2 || (!rate && capacity_index(system, which) == CAPACITY2);
    calc_memory_kind kind = second ? system->chip.mem2.kind : system->chip.mem1.kind;
    char name[32];
    if (which < MEM1) {
        snprintf(text, CALC_RESOURCE_TEXT, "%s arithmetic", which == MATRIX ? "matrix" : "vector");
        return text;
    }
    if (network && people) {
        network_name(system, which - NETWORKS, name);
    } else if (network) {
        snprintf(name, sizeof name, "networks[%zu]", which - NETWORKS);
    } else if (people) {
        snprintf(name, sizeof name, "%s",
                 kind != CALC_MEMORY_KIND_UNNAMED ? calc_memory_kind_names[kind]
                 : second                         ? "the second memory"
                                                  : "the first memory");
    } else {
        snprintf(name, sizeof name, "mem%d", second ? 2 : 1);
    }
    snprintf(text, CALC_RESOURCE_TEXT, "%s of %s", rate ? "bandwidth" : "capacity", name);
    return text;
}
