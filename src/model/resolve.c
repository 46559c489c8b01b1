/* calc_resolve(): what "auto" comes to beside the other fields of a layout. */
#include "calc.h"
#include "model/operators/shape.h"
#include "model/stages/stages.h"
#include "spec/automatic.h"
#include "spec/field.h"

typedef struct layout {
    const calc_app *app;
    const calc_system *system;
    calc_exec *exec;
} layout;

static bool is_legal(const layout *l)
{
    calc_errors errors = {0};
    return calc_check(l->app, l->system, l->exec, &errors) == CALC_OK;
}

/* The row of a field that says "auto", which it then no longer does; NULL if it does not. */
static const calc_field *take(const layout *l, const char *key)
{
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_EXEC), key);
    uint32_t bit = calc_automatic_bit(field);
    bool automatic = l->exec->automatic & bit;
    l->exec->automatic &= ~bit;
    return automatic ? field : NULL;
}

/* Processors and replicas follow from each other; if neither is given, there is one replica. */
static void resolve_sizes(const layout *l)
{
    calc_exec *e = l->exec;
    int64_t ranks = e->strategy.tensor_par * e->pipeline_par *
                    (e->strategy.context_par > 1 ? e->strategy.context_par : 1);
    if (take(l, "num_procs")) {
        take(l, "data_par");
        e->num_procs = e->strategy.data_par * ranks;
    } else if (take(l, "data_par") && e->num_procs >= ranks) {
        e->strategy.data_par = e->num_procs / ranks;
    }
}

/* What is wanted of a field, if it says "auto" and the value is legal. */
static void resolve_choice(const layout *l, const char *key, int wanted)
{
    const calc_field *field = take(l, key);
    if (!field) {
        return;
    }
    const calc_exec before = *l->exec;
    char *member = (char *)l->exec + field->offset;
    if (field->type == CALC_TYPE_BOOL) {
        *(bool *)member = wanted;
    } else {
        *(int *)(void *)member = wanted;
    }
    if (!is_legal(l)) {
        *l->exec = before;
    }
}

/* Chunks of as few blocks as can be: most published pipelines have one block in each. */
static void resolve_interleaving(const layout *l)
{
    calc_exec *e = l->exec;
    if (!take(l, "pipeline_interleaving") || !is_legal(l)) {
        return;
    }
    calc_shape shape = calc_shape_of(l->app, &e->strategy, e->microbatch_size, e->seq_size);
    int64_t chunks = l->app->num_blocks / e->pipeline_par + 1; /* embedding and head may count */
    for (e->pipeline_interleaving = chunks; e->pipeline_interleaving > 1;
         e->pipeline_interleaving--) {
        if (is_legal(l) && calc_stages_split(&shape, e, CALC_COMPAT_NONE).fit) {
            return;
        }
    }
}

void calc_resolve(const calc_app *app, const calc_system *system, calc_exec *exec)
{
    const layout l = {app, system, exec};
    if (exec->automatic == 0) {
        return;
    }
    resolve_sizes(&l);
    resolve_choice(&l, "tensor_par_comm_type", CALC_TENSOR_PAR_COMM_TYPE_RS_AG);
    resolve_choice(&l, "tensor_par_overlap", CALC_TENSOR_PAR_OVERLAP_ASYNC);
    resolve_choice(&l, "seq_par_ag_redo", true);
    resolve_choice(&l, "optimizer_sharding", true);
    resolve_choice(&l, "data_par_overlap", true);
    resolve_choice(&l, "pipeline_par_overlap", true);
    resolve_interleaving(&l);
}
