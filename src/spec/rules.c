#include "spec/rules.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "spec/field.h"

/* What the rules look at, and where their errors go. */
typedef struct rules {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    calc_errors *errors;
} rules;

/* Add an error about a field of the execution. */
#define BROKEN(r, field, hint, ...)                                                                \
    calc_errors_add((r)->errors, CALC_ERR_RULE, CALC_KIND_EXEC, "/" #field, hint, __VA_ARGS__)

int64_t calc_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

char *calc_divisors_text(int64_t n, char *buffer, size_t size)
{
    enum { SHOWN = 16 };
    int64_t divisor[SHOWN + 1];
    size_t count = 0;
    /* A divisor beyond a million would be a million tries away: the list is for people. */
    for (int64_t d = 1; d <= n && d <= 1000000 && count <= SHOWN; d++) {
        if (n % d == 0) {
            divisor[count++] = d;
        }
    }
    bool cut = count > SHOWN || n > 1000000;
    count = cut ? SHOWN : count;
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        const char *join = i == 0 ? "" : i + 1 == count && !cut ? " or " : ", ";
        used += (size_t)snprintf(buffer + used, size - used, "%s%lld", join, (long long)divisor[i]);
    }
    if (cut && used < size) {
        snprintf(buffer + used, size - used, ", ...");
    }
    return buffer;
}

/* Report that `value` (of `field`) does not divide the `n` that `what` names. */
static void must_divide(rules *r, const char *pointer, int64_t value, const char *what, int64_t n,
                        int64_t common)
{
    if (n % value == 0) {
        return;
    }
    char divisors[200];
    char hint[224];
    calc_divisors_text(common, divisors, sizeof divisors);
    snprintf(hint, sizeof hint, "use %s", divisors);
    calc_errors_add(r->errors, CALC_ERR_RULE, CALC_KIND_EXEC, pointer, hint,
                    "%lld does not divide %s = %lld", (long long)value, what, (long long)n);
}

static void check_parallel_sizes(rules *r)
{
    const calc_exec *e = r->exec;
    /* Dividing instead of multiplying cannot overflow. */
    int64_t left = e->num_procs;
    bool exact = left % e->tensor_par == 0;
    left /= e->tensor_par;
    exact = exact && left % e->pipeline_par == 0;
    left /= e->pipeline_par;
    if (exact && left == e->data_par) {
        return;
    }
    char hint[160] = "";
    if (exact && left > 0) {
        snprintf(hint, sizeof hint, "data_par = %lld would fit", (long long)left);
    } else {
        double product = (double)e->tensor_par * (double)e->pipeline_par * (double)e->data_par;
        if (product <= 1e9) {
            snprintf(hint, sizeof hint, "num_procs = %.0f would fit", product);
        }
    }
    BROKEN(r, num_procs, hint,
           "tensor_par * pipeline_par * data_par = %lld * %lld * %lld is not num_procs = %lld",
           (long long)e->tensor_par, (long long)e->pipeline_par, (long long)e->data_par,
           (long long)e->num_procs);
}

static void check_batch(rules *r)
{
    const calc_exec *e = r->exec;
    if (e->batch_size % e->data_par != 0) {
        int64_t below = e->batch_size / e->data_par * e->data_par;
        char hint[128];
        snprintf(hint, sizeof hint, "batch_size must be a multiple of data_par: %lld or %lld",
                 (long long)(below > 0 ? below : e->data_par), (long long)(below + e->data_par));
        if (below == 0) {
            snprintf(hint, sizeof hint, "batch_size must be a multiple of data_par: at least %lld",
                     (long long)e->data_par);
        }
        BROKEN(r, batch_size, hint, "%lld is not a multiple of data_par = %lld",
               (long long)e->batch_size, (long long)e->data_par);
        return;
    }
    int64_t local = e->batch_size / e->data_par;
    must_divide(r, "/microbatch_size", e->microbatch_size, "batch_size / data_par", local, local);
}

static void check_tensor_par(rules *r)
{
    const calc_exec *e = r->exec;
    const calc_app *a = r->app;
    bool scatters = e->tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_AR;
    int64_t tokens = e->microbatch_size * a->seq_size;
    int64_t common = calc_gcd(calc_gcd(a->hidden, a->feedforward), a->attn_heads);
    common = scatters ? calc_gcd(common, tokens) : common;
    must_divide(r, "/tensor_par", e->tensor_par, "hidden", a->hidden, common);
    must_divide(r, "/tensor_par", e->tensor_par, "feedforward", a->feedforward, common);
    must_divide(r, "/tensor_par", e->tensor_par, "attn_heads", a->attn_heads, common);
    if (scatters) {
        must_divide(r, "/tensor_par", e->tensor_par, "microbatch_size * seq_size", tokens, common);
    }
    if (e->tensor_par == 1 && e->tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_NONE) {
        BROKEN(r, tensor_par_overlap, "use \"none\", or tensor_par > 1",
               "nothing to overlap with tensor_par = 1");
    }
    if (e->seq_par_ag_redo && e->tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_RS_AG) {
        BROKEN(
            r, seq_par_ag_redo, "use false, or tensor_par_comm_type \"rs_ag\"",
            "only sequence parallelism (tensor_par_comm_type \"rs_ag\") has an all-gather to redo");
    }
    if (e->seq_par_ag_redo && e->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL) {
        BROKEN(r, seq_par_ag_redo, "use false, or activation_recompute \"attn_only\" or \"none\"",
               "full recomputation already repeats the all-gather");
    }
}

static void check_pipeline_and_data_par(rules *r)
{
    const calc_exec *e = r->exec;
    if (e->pipeline_par == 1 && e->pipeline_interleaving != 1) {
        BROKEN(r, pipeline_interleaving, "use 1, or pipeline_par > 1",
               "%lld chunks need a pipeline, but pipeline_par = 1",
               (long long)e->pipeline_interleaving);
    }
    if (e->data_par == 1 && e->optimizer_sharding) {
        BROKEN(r, optimizer_sharding, "use false, or data_par > 1",
               "nothing to shard over with data_par = 1");
    }
    if (e->data_par == 1 && e->data_par_overlap) {
        BROKEN(r, data_par_overlap, "use false, or data_par > 1",
               "nothing to overlap with data_par = 1");
    }
}

static void check_inference(rules *r)
{
    const calc_exec *e = r->exec;
    if (e->training) {
        return;
    }
    if (e->activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE) {
        BROKEN(r, activation_recompute, "use \"none\", or training true",
               "without training there is no backward pass to recompute for");
    }
    if (e->data_par > 1 && e->data_par_overlap) {
        BROKEN(r, data_par_overlap, "use false, or training true",
               "without training there are no gradients to reduce");
    }
    if (e->optimizer_offload) {
        BROKEN(r, optimizer_offload, "use false, or training true",
               "without training there is no optimizer");
    }
}

/* A network assignment must name a network the system has. */
static void check_network_index(rules *r, const char *pointer, int64_t index)
{
    if (index < r->system->networks_count) {
        return;
    }
    char hint[64];
    snprintf(hint, sizeof hint, r->system->networks_count == 1 ? "use 0" : "use 0 to %lld",
             (long long)r->system->networks_count - 1);
    calc_errors_add(r->errors, CALC_ERR_RULE, CALC_KIND_EXEC, pointer, hint,
                    "no network %lld: the system has %lld", (long long)index,
                    (long long)r->system->networks_count);
}

/* The datatype must be offered by an engine. */
static void check_engine(rules *r, const char *name, const calc_engine *engines)
{
    const calc_engine *engine = &engines[r->exec->datatype];
    if (engine->flop_per_s > 0 && engine->efficiency.count > 0) {
        return;
    }
    char hint[96] = "";
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        if (engines[i].flop_per_s > 0 && engines[i].efficiency.count > 0) {
            size_t used = strlen(hint);
            snprintf(hint + used, sizeof hint - used, "%s %s", used > 0 ? " or" : "use",
                     calc_datatype_names[i]);
        }
    }
    BROKEN(r, datatype, hint, "the system's %s engine does not offer %s", name,
           calc_datatype_names[r->exec->datatype]);
}

calc_status calc_check(const calc_app *app, const calc_system *system, const calc_exec *exec,
                       calc_errors *errors)
{
    calc_errors own = {0};
    rules r = {app, system, exec, errors ? errors : &own};
    int before = r.errors->count + r.errors->dropped;
    check_parallel_sizes(&r);
    check_batch(&r);
    check_tensor_par(&r);
    check_pipeline_and_data_par(&r);
    check_inference(&r);
    check_network_index(&r, "/tensor_par_net", exec->tensor_par_net);
    check_network_index(&r, "/pipeline_par_net", exec->pipeline_par_net);
    check_network_index(&r, "/data_par_net", exec->data_par_net);
    check_engine(&r, "matrix", system->matrix);
    check_engine(&r, "vector", system->vector);
    if (r.errors->count + r.errors->dropped == before) {
        return CALC_OK;
    }
    return before < r.errors->count ? r.errors->item[before].status : CALC_ERR_RULE;
}
