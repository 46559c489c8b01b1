#include "cli/sweep/sweep_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/draw/human.h"
#include "cli/sweep/sweep_write.h"
#include "spec/absent.h"
#include "spec/choice_set.h"
#include "spec/field.h"

enum { MOST_EXTRA = 16 };

/* ---- Layouts --------------------------------------------------------------------------------- */

/* What a table shows besides the columns that every table has. */
typedef struct columns {
    bool mem2;     /* some layout uses tier 2 */
    bool design;   /* there are several */
    bool nets;     /* some layout says which networks its groups use */
    bool modern;   /* some layout has a flag that Calculon does not have */
    size_t extras; /* optional fields of the execution */
    calc_axis extra[MOST_EXTRA];
    int width[MOST_EXTRA];
    size_t objectives; /* without a column of their own */
    const calc_field *objective[CALC_MAX_OBJECTIVES];
} columns;

static bool in_every_table(const calc_objective *objective)
{
    return objective->kind == CALC_OBJECTIVE_SAMPLE_RATE ||
           objective->kind == CALC_OBJECTIVE_MEM1 || objective->kind == CALC_OBJECTIVE_MEM2;
}

/* What a column for an optional field is called; NULL where it has one only if it is swept. */
static const char *short_name(calc_axis axis)
{
    switch (axis) {
    case CALC_AXIS_context_par:
        return "cp";
    case CALC_AXIS_expert_par:
        return "ep";
    case CALC_AXIS_expert_tensor_par:
        return "etp";
    case CALC_AXIS_zero_stage:
        return "zero";
    case CALC_AXIS_pipeline_schedule:
        return "schedule";
    case CALC_AXIS_pipeline_balance:
        return "balance";
    case CALC_AXIS_recompute_modules:
        return "modules";
    default:
        return NULL;
    }
}

static const char *head_of(calc_axis axis)
{
    const char *name = short_name(axis);
    return name ? name : calc_table_of(CALC_KIND_EXEC)->rows[axis].key;
}

static bool is_size(calc_axis axis)
{
    return axis == CALC_AXIS_context_par || axis == CALC_AXIS_expert_par ||
           axis == CALC_AXIS_expert_tensor_par;
}

/* The value of an optional field. */
static const char *extra_text(calc_axis axis, const calc_exec *exec,
                              char text[CALC_CHOICE_SET_SIZE])
{
    const calc_field *field = &calc_table_of(CALC_KIND_EXEC)->rows[axis];
    int64_t value = calc_axis_get(exec, axis);
    if (field->type == CALC_TYPE_ENUM) {
        return field->choices[value];
    }
    if (field->type == CALC_TYPE_SET) {
        return value ? calc_choice_set_text(field->choices, value, text) : "-";
    }
    if (field->type == CALC_TYPE_BOOL) {
        return value ? "true" : "false";
    }
    double number = calc_axis_number(axis, value);
    return calc_number_text(is_size(axis) && number < 1 ? 1 : number, 1, text);
}

/* Whether a layout says something else of an optional field than an absent one does. */
static bool uses(const calc_exec *exec, calc_axis axis)
{
    calc_exec absent;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &absent);
    int64_t value = calc_axis_get(exec, axis);
    return value != calc_axis_get(&absent, axis) && !(is_size(axis) && value <= 1);
}

/* Give a field a column if a layout uses it, in the order of the fields; and make it wide enough.
 */
static void widen(columns *c, const calc_exec *exec, calc_axis axis)
{
    char text[CALC_CHOICE_SET_SIZE];
    size_t i = 0;
    while (i < c->extras && c->extra[i] < axis) {
        i++;
    }
    if (i == c->extras || c->extra[i] != axis) {
        if (c->extras == MOST_EXTRA || !uses(exec, axis)) {
            return;
        }
        memmove(&c->extra[i + 1], &c->extra[i], (c->extras - i) * sizeof *c->extra);
        memmove(&c->width[i + 1], &c->width[i], (c->extras - i) * sizeof *c->width);
        c->extras++;
        c->extra[i] = axis;
        c->width[i] = (int)strlen(head_of(axis));
    }
    int length = (int)strlen(extra_text(axis, exec, text));
    c->width[i] = length > c->width[i] ? length : c->width[i];
}

static void look_at(columns *c, const calc_space *space, const calc_exec *e)
{
    c->nets = c->nets || e->rank_order == CALC_RANK_ORDER_NETWORKS;
    c->modern = c->modern || e->strategy.pipeline_par_overlap ||
                e->strategy.tensor_par_overlap > CALC_TENSOR_PAR_OVERLAP_PIPE;
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        const calc_values *values = &space->axis[axis];
        bool swept = values->all || (values->count > 1 && !values->last);
        bool flag = axis == CALC_AXIS_pipeline_par_overlap;
        if (calc_axis_is_optional((calc_axis)axis) && !flag &&
            (swept || short_name((calc_axis)axis))) {
            widen(c, e, (calc_axis)axis);
        }
    }
}

static void look_at_list(columns *c, const calc_space *space, const calc_front *list)
{
    for (size_t i = 0; i < list->count; i++) {
        look_at(c, space, &list->item[i].exec);
    }
}

static columns choose_columns(const calc_sweep_study *study, const calc_sweep_result *result)
{
    columns c = {.design = study->designs.count > 1};
    for (size_t g = 0; g < result->groups_count; g++) {
        /* A second look: widths are known when all columns are. */
        for (int look = 0; look < 2; look++) {
            look_at_list(&c, &study->space, &result->group[g].front);
            look_at_list(&c, &study->space, &result->group[g].top);
        }
    }
    for (uint64_t i = 0; i < study->builder.systems; i++) {
        c.mem2 |= study->builder.system[i].system.chip.mem2.capacity_bytes > 0;
    }
    for (size_t i = 0; i < study->builder.axes; i++) {
        c.mem2 |= strncmp(study->builder.axis[i].path, "sys.mem2.", 9) == 0;
    }
    for (size_t i = 0; i < study->options.objectives; i++) {
        const calc_objective *objective = &study->options.objective[i];
        if (!in_every_table(objective)) {
            c.objective[c.objectives++] = objective->field;
        }
    }
    return c;
}

static void write_head(calc_output *out, const columns *c)
{
    calc_output_text(out, "    #  samples/s   MFU %    GiB");
    if (c->mem2) {
        calc_output_text(out, "  GiB 2");
    }
    calc_output_text(out, "  procs   tp/pp/dp");
    for (size_t i = 0; i < c->extras; i++) {
        calc_output_printf(out, "  %*s", c->width[i], head_of(c->extra[i]));
    }
    calc_output_text(out, "   il mbs  recompute  comm     ");
    calc_output_text(out, c->nets ? "  nets  flags" : "  flags");
    for (size_t i = 0; i < c->objectives; i++) {
        calc_output_printf(out, "  %10s", c->objective[i]->key);
    }
    calc_output_text(out, c->design ? "     design\n" : "\n");
}

/* One letter for each thing that is on, "-" if nothing is. */
static char *flags_of(const calc_exec *e, char text[16])
{
    size_t used = 0;
    const struct {
        bool on;
        char letter;
    } flags[] = {{e->strategy.fused_activation, 'f'},
                 {e->strategy.optimizer_sharding, 's'},
                 {e->strategy.data_par_overlap, 'd'},
                 {e->strategy.seq_par_ag_redo, 'r'},
                 {e->strategy.tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_RING, 'g'},
                 {e->strategy.tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_PIPE, 'p'},
                 {e->strategy.tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_ASYNC, 'a'},
                 {e->strategy.tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_FUSED, 'u'},
                 {e->strategy.pipeline_par_overlap, 'm'},
                 {e->strategy.weight_offload, 'W'},
                 {e->strategy.activations_offload, 'A'},
                 {e->strategy.optimizer_offload, 'O'}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (flags[i].on) {
            text[used++] = flags[i].letter;
        }
    }
    strcpy(text + used, used ? "" : "-");
    return text;
}

static const char *choice_of(calc_axis axis, const calc_exec *exec)
{
    return calc_table_of(CALC_KIND_EXEC)->rows[axis].choices[calc_axis_get(exec, axis)];
}

static void write_layout(calc_output *out, const calc_sweep_study *study, const columns *c,
                         size_t rank, const calc_found *layout)
{
    static const double gib = 1024.0 * 1024 * 1024;
    calc_sweep_found found;
    char rate[CALC_HUMAN_MAX], sizes[64], nets[64] = "", flags[16];
    calc_sweep_found_run(study, layout, &found);
    const calc_exec *e = found.exec;
    const calc_stats *s = &found.stats;
    calc_output_printf(out, "%5zu %10s %7.2f %6.1f", rank, calc_human_number(s->sample_rate, rate),
                       100 * s->model_flops_utilization, s->proc_mem_tier1_cap_req / gib);
    if (c->mem2) {
        calc_output_printf(out, " %6.1f", s->proc_mem_tier2_cap_req / gib);
    }
    snprintf(sizes, sizeof sizes, "%" PRId64 "/%" PRId64 "/%" PRId64, e->strategy.tensor_par,
             e->pipeline_par, e->strategy.data_par);
    if (c->nets) {
        snprintf(nets, sizeof nets, "%" PRId64 "/%" PRId64 "/%" PRId64 "  ",
                 e->strategy.tensor_par_net, e->pipeline_par_net, e->strategy.data_par_net);
    }
    calc_output_printf(out, " %6" PRId64 " %10s", e->num_procs, sizes);
    for (size_t i = 0; i < c->extras; i++) {
        char text[CALC_CHOICE_SET_SIZE];
        calc_output_printf(out, "  %*s", c->width[i], extra_text(c->extra[i], e, text));
    }
    calc_output_printf(out, " %4" PRId64 " %3" PRId64 "  %-9s  %-9s  %s%-*s",
                       e->pipeline_interleaving, e->microbatch_size,
                       choice_of(CALC_AXIS_activation_recompute, e),
                       choice_of(CALC_AXIS_tensor_par_comm_type, e), nets,
                       c->objectives > 0 || c->design ? 5 : 0, flags_of(e, flags));
    for (size_t i = 0; i < c->objectives; i++) {
        const calc_field *field = c->objective[i];
        double value = calc_member_number(field, (const char *)s + field->offset);
        calc_output_printf(out, " %*.4g",
                           (int)strlen(field->key) < 10 ? 11 : (int)strlen(field->key) + 1, value);
    }
    if (c->design) {
        char design[160];
        calc_designs_describe(&study->builder, found.design, design, sizeof design);
        calc_output_printf(out, "  %s", design);
    }
    calc_output_text(out, "\n");
}

size_t calc_sweep_table_row(size_t i, size_t shown, size_t count)
{
    return shown < 2 ? 0 : i * (count - 1) / (shown - 1);
}

static void write_title(calc_output *out, size_t shown, size_t count, const char *title)
{
    char number[CALC_HUMAN_MAX];
    calc_output_printf(out, "\n%s", title);
    if (shown < count) {
        calc_output_printf(out, " (%zu of %s)", shown, calc_human_integer((double)count, number));
    }
    calc_output_text(out, ":\n");
}

static void write_list(calc_output *out, const calc_sweep_study *study, const columns *c,
                       const calc_front *list, bool all, const char *title)
{
    size_t shown =
        all || list->count < CALC_SWEEP_TABLE_FRONT ? list->count : CALC_SWEEP_TABLE_FRONT;
    if (list->count == 0) {
        return;
    }
    write_title(out, shown, list->count, title);
    write_head(out, c);
    for (size_t i = 0; i < shown; i++) {
        size_t at = calc_sweep_table_row(i, shown, list->count);
        write_layout(out, study, c, at + 1, &list->item[at]);
    }
}

/* The best of each group that has one. */
static void write_groups(calc_output *out, const calc_sweep_study *study, const columns *c,
                         const calc_sweep_result *result)
{
    size_t count = 0;
    for (size_t g = 0; g < result->groups_count; g++) {
        count += calc_sweep_found_best(&result->group[g]) != NULL;
    }
    size_t shown = count < CALC_SWEEP_TABLE_GROUPS ? count : CALC_SWEEP_TABLE_GROUPS;
    if (count == 0) {
        return;
    }
    write_title(out, shown, count, "Best of each group");
    write_head(out, c);
    size_t seen = 0;
    size_t next = 0;
    for (size_t g = 0; g < result->groups_count && next < shown; g++) {
        const calc_found *best = calc_sweep_found_best(&result->group[g]);
        if (best && seen++ == calc_sweep_table_row(next, shown, count)) {
            next++;
            write_layout(out, study, c, seen, best);
        }
    }
}

void calc_sweep_table_found(calc_output *out, const calc_sweep_study *study,
                            const calc_sweep_result *result)
{
    columns c = choose_columns(study, result);
    if (!calc_sweep_found_best_of_all(result)) {
        return;
    }
    if (result->groups_count > 1) {
        write_groups(out, study, &c, result);
    } else {
        char title[96];
        snprintf(title, sizeof title, "Best by %s", study->options.top_by.field->key);
        write_list(out, study, &c, &result->group[0].front, false, "Pareto front");
        write_list(out, study, &c, &result->group[0].top, true, title);
    }
    calc_output_text(out, "\nnets: of tensor, pipeline and data parallelism. flags: f fused "
                          "activation,\ns optimizer sharding, d data_par_overlap, r "
                          "seq_par_ag_redo, g ring, p pipe\n(tensor_par_overlap); offloaded: "
                          "W weights, A activations, O optimizer.\n");
    if (c.modern) {
        calc_output_text(out, "Also: a async, u fused (tensor_par_overlap), m "
                              "pipeline_par_overlap.\n");
    }
    if (c.extras > 0 && is_size(c.extra[0])) {
        calc_output_text(out, "cp, ep, etp: context, expert, expert tensor parallelism.\n");
    }
}

/* ---- Counts ---------------------------------------------------------------------------------- */

static void write_count(calc_output *out, uint64_t count, const char *what)
{
    char number[CALC_HUMAN_MAX];
    if (count > 0) {
        calc_output_printf(out, "%18s  %s\n", calc_human_integer((double)count, number), what);
    }
}

void calc_sweep_table_counts(calc_output *out, const calc_sweep_result *result)
{
    const calc_sweep_counts *c = &result->counts;
    char number[CALC_HUMAN_MAX], time[CALC_HUMAN_MAX], rate[CALC_HUMAN_MAX];
    calc_output_printf(out, "\n%18s  layouts%s\n", calc_human_integer((double)c->total, number),
                       result->partial ? " so far: the sweep is partial" : "");
    write_count(out, c->skipped, "skipped: bounds prove them dominated or too large");
    write_count(out, c->evaluated, "evaluated");
    write_count(out, c->feasible, "feasible");
    write_count(out, c->filtered, "filtered: feasible, but a condition is not met");
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        char what[64];
        snprintf(what, sizeof what, "rejected: %s", calc_verdict_text((calc_verdict)v));
        write_count(out, c->rejected[v], what);
    }
    double per_s = calc_sweep_write_rate(result);
    calc_output_printf(out,
                       "%18s  with %d thread%s (%s): ", calc_human_seconds(result->elapsed_s, time),
                       result->threads, result->threads == 1 ? "" : "s", result->cpu);
    calc_output_printf(out, "%s evaluations per second", calc_human_count(per_s, rate));
    calc_output_printf(out, ", %s per core\n", calc_human_count(per_s / result->threads, rate));
}
