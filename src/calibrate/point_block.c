#include "calibrate/point_block.h"

#include <stdio.h>
#include <string.h>

#include "io/utf8.h"
#include "model/stages/measured_block.h"
#include "spec/absent.h"

static void start(const calc_point *p, calc_app *app, calc_exec *exec)
{
    calc_absent_fill(calc_table_of(CALC_KIND_APP), app);
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), exec);
    bool narrow = p->datatype == CALC_DATATYPE_FLOAT8 || p->datatype == CALC_DATATYPE_FLOAT4;
    exec->strategy.datatype = narrow ? CALC_DATATYPE_BFLOAT16 : p->datatype;
    exec->strategy.matrix_datatype = p->datatype == CALC_DATATYPE_FLOAT8   ? CALC_FORMAT_FLOAT8
                                     : p->datatype == CALC_DATATYPE_FLOAT4 ? CALC_FORMAT_FLOAT4
                                                                           : CALC_FORMAT_AUTO;
    app->seq_size = (int64_t)p->size[1]; /* "seq_size" sets the execution's */
    app->num_blocks = 1;
    exec->pipeline_par = exec->pipeline_interleaving = exec->microbatch_size = 1;
    exec->strategy.tensor_par = exec->strategy.data_par = 1;
    exec->training = true;
}

/* What follows from the words. */
static void finish(calc_app *app, calc_exec *exec)
{
    calc_strategy *s = &exec->strategy;
    if (app->attn_size == 0) {
        app->attn_size = app->hidden >= app->attn_heads ? app->hidden / app->attn_heads : 1;
    }
    exec->batch_size = exec->microbatch_size;
    if (s->attention_type == CALC_ATTENTION_TYPE_MULTIHEAD) {
        bool grouped = app->kv_heads > 0 && app->kv_heads < app->attn_heads;
        s->attention_type = app->kv_lora_rank > 0 ? CALC_ATTENTION_TYPE_MULTI_LATENT
                            : grouped             ? CALC_ATTENTION_TYPE_GROUPED_QUERY
                                                  : CALC_ATTENTION_TYPE_MULTIHEAD;
    }
    exec->num_procs = s->tensor_par * (s->context_par > 1 ? s->context_par : 1);
}

/* A reason that is whole, or a short one: half a letter is no UTF-8. */
static void say(char reason[CALC_POINT_REASON], const char *of, const char *text, const char *hint)
{
    int length =
        snprintf(reason, CALC_POINT_REASON, "\"%s\": %s%s%s", of, text, *hint ? "; " : "", hint);
    if (length >= CALC_POINT_REASON) {
        snprintf(reason, CALC_POINT_REASON, "\"%s\" is not possible", of);
    }
}

/* Set the field that a word names. @return whether it is one of a block */
static bool set(const char *word, calc_app *app, calc_exec *exec, char reason[CALC_POINT_REASON])
{
    calc_system none = {0};
    calc_errors errors = {0};
    calc_field_ref where;
    char shown[CALC_UTF8_SHOW_SIZE];
    calc_utf8_show(shown, word, strlen(word));
    if (calc_set(app, &none, exec, word, &where, &errors) != CALC_OK) {
        const calc_error *e = &errors.item[0];
        say(reason, shown, e->text, e->hint);
        return false;
    }
    bool several = app->num_blocks != 1 || exec->pipeline_par != 1 ||
                   exec->strategy.data_par != 1 || exec->stages.count > 0 || exec->layers.count > 0;
    bool trains = exec->training && exec->inference.phase == CALC_INFERENCE_PHASE_NONE;
    if (where.kind == CALC_KIND_SYSTEM || app->num_experts > 0 || several || !trains) {
        say(reason, shown, "a row is of one block, without experts", "");
        return false;
    }
    return true;
}

bool calc_point_block_of(const calc_point *p, calc_app *app, calc_exec *exec,
                         char reason[CALC_POINT_REASON])
{
    bool fine = true;
    start(p, app, exec);
    for (const char *at = p->shape + strspn(p->shape, ", "); *at && fine; at += strspn(at, ", ")) {
        char word[CALC_POINT_REASON];
        size_t length = strcspn(at, ", ");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        fine = set(word, app, exec, reason);
        at += length;
    }
    if (fine) {
        finish(app, exec);
    }
    return fine;
}

/* The context of a block, and all that it borrows. */
typedef struct block {
    calc_app app;
    calc_exec exec;
    calc_shape shape;
    calc_cost_context context;
} block;

static void make(block *b, const calc_point *p, const calc_system *system)
{
    char reason[CALC_POINT_REASON];
    (void)calc_point_block_of(p, &b->app, &b->exec, reason); /* used points say nothing else */
    calc_resolve(&b->app, system, &b->exec);
    b->shape = calc_shape_of(&b->app, &b->exec.strategy, b->exec.microbatch_size, b->exec.seq_size);
    b->context = calc_cost_context_of(system, &b->exec, &b->shape, CALC_COMPAT_NONE);
}

bool calc_point_block_runs(const calc_point *p, const calc_system *system,
                           char reason[CALC_POINT_REASON])
{
    block b;
    calc_errors errors = {0};
    make(&b, p, system);
    if (calc_check(&b.app, system, &b.exec, &errors) != CALC_OK) {
        say(reason, "block", errors.item[0].text, errors.item[0].hint);
        return false;
    }
    return true;
}

double calc_point_block_s(const calc_point *p, const calc_system *system)
{
    block b;
    make(&b, p, system);
    return calc_measured_block_model_s(&b.context);
}

calc_kernel_key calc_point_block_key(const calc_point *p, const calc_system *system)
{
    block b;
    make(&b, p, system);
    return calc_measured_block_key(&b.context);
}
