#include "taylor/probes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "taylor/memory.h"

#define COUNT_COLUMN(text, member)                                                                 \
    {                                                                                              \
        .name = (text), CALC_CSV_MEMBER(calc_taylor_probe, member), .lo = 1, .hi = 1e6             \
    }

static const calc_csv_column columns[] = {{CALC_CSV_MEMBER(calc_taylor_probe, line)},
                                          COUNT_COLUMN("dp", data),
                                          COUNT_COLUMN("tp", tensor),
                                          COUNT_COLUMN("pp", pipeline),
                                          COUNT_COLUMN("ep", expert),
                                          {.name = "peak_mem",
                                           .also = "evaluate_mem",
                                           CALC_CSV_MEMBER(calc_taylor_probe, peak_mb),
                                           .lo = 1,
                                           .hi = 1e9}};

static const calc_csv_table table =
    CALC_CSV_TABLE(columns, calc_taylor_probe,
                   "the first row names the columns: dp,tp,pp,ep,peak_mem, the last in MB");

calc_status calc_taylor_probes_read(calc_csv_rows *out, const char *path, calc_errors *errors)
{
    return calc_csv_table_read(out, &table, path, errors);
}

calc_status calc_taylor_probes_parse(calc_csv_rows *out, calc_text text, const char *name,
                                     calc_errors *errors)
{
    return calc_csv_table_parse(out, &table, text, name, errors);
}

void calc_taylor_probes_free(calc_csv_rows *rows)
{
    free(rows->item);
    calc_text_free(&rows->text);
    *rows = (calc_csv_rows){0};
}

calc_taylor_fit calc_taylor_fit_of(int64_t ep1, double peak1_mb, int64_t ep2, double peak2_mb)
{
    double a = (double)ep1;
    double b = (double)ep2;
    calc_taylor_fit fit = {.probes = 2, .expert_mb = (peak1_mb - peak2_mb) * (a * b / (b - a))};
    fit.base_mb = peak1_mb - fit.expert_mb / a;
    return fit;
}

calc_taylor_fit calc_taylor_probes_fit(const calc_csv_rows *rows, const calc_taylor_layout *l)
{
    const calc_taylor_probe *probe = rows->item;
    const calc_taylor_probe *first = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const calc_taylor_probe *p = &probe[i];
        if (p->data != l->data || p->tensor != l->tensor || p->pipeline != l->pipeline) {
            continue;
        }
        if (!first) {
            first = p;
        } else if (p->expert != first->expert) {
            return calc_taylor_fit_of(first->expert, first->peak_mb, p->expert, p->peak_mb);
        }
    }
    return (calc_taylor_fit){.probes = first != NULL};
}

double calc_taylor_fit_mb(const calc_taylor_fit *fit, int64_t expert)
{
    return fit->base_mb + fit->expert_mb / (double)expert;
}

bool calc_taylor_tries(const calc_taylor_layout *l, int64_t experts, int64_t most, int64_t expert)
{
    return (expert & (expert - 1)) == 0 && expert <= most && l->data * l->tensor % expert == 0 &&
           (experts == 0 || experts % expert == 0);
}

double calc_taylor_estimate_mb(const calc_taylor_config *c, const calc_system *system,
                               const calc_taylor_layout *l, int64_t expert, int64_t batch,
                               char *why, size_t size)
{
    calc_exec exec =
        calc_taylor_config_exec(c, l->data, l->tensor, l->pipeline, expert, batch, c->again);
    calc_errors errors = {0};
    exec.microbatch_size = 1;
    if (calc_check(&c->app, system, &exec, &errors) != CALC_OK) {
        snprintf(why, size, "%s", errors.item[0].text);
        return NAN;
    }
    calc_taylor_memory memory;
    calc_taylor_memory_of(c, system, &exec, &memory);
    return calc_taylor_initial_mb(c, &memory, &exec, (calc_balance_recompute)c->again, -1);
}

calc_taylor_fit calc_taylor_estimate(const calc_taylor_config *c, const calc_system *system,
                                     const calc_taylor_layout *l, int64_t batch, char *why,
                                     size_t size)
{
    enum { PROBED = 8 };
    int64_t experts = c->experts > 0 ? c->experts : 1;
    int64_t most = l->data * l->tensor;
    int64_t expert = 1;
    while (expert < PROBED && calc_taylor_tries(l, experts, most, 4 * expert)) {
        expert *= 2;
    }
    double first_mb = calc_taylor_estimate_mb(c, system, l, expert, batch, why, size);
    calc_taylor_fit fit = {.probes = isnan(first_mb) ? 0 : 2, .base_mb = first_mb};
    if (fit.probes == 2 && calc_taylor_tries(l, experts, most, 2 * expert)) {
        double second_mb = calc_taylor_estimate_mb(c, system, l, 2 * expert, batch, why, size);
        fit = calc_taylor_fit_of(expert, first_mb, 2 * expert, second_mb);
        fit.probes = isnan(second_mb) ? 0 : 2;
    }
    return fit;
}
