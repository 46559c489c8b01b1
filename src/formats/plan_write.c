#include "formats/write.h"

#include <inttypes.h>
#include <string.h>

#include "formats/plan_macros.h"
#include "io/utf8.h"

/* Members for frameworks that combine several meanings in one key, or spread one over several. */

/* Uneven stages become a list; of several chunks, where all but the last of them are alike. */
static void set_stages(calc_plan *plan, const calc_exec *e)
{
    bool ends = e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS;
    int64_t count = e->pipeline_par * e->pipeline_interleaving;
    bool listed = e->pipeline_par > 1 && e->stages.count == 0 &&
                  e->pipeline_balance != CALC_PIPELINE_BALANCE_FREE && e->first_stage_blocks == 0 &&
                  e->last_stage_blocks == 0 && (COUNT(BLOCKS) + (ends ? 2 : 0)) % count != 0 &&
                  (count == e->pipeline_par || (ends && (COUNT(BLOCKS) + 3) % count == 0));
    SET(EVEN_ENDS, ends && !listed);
    SET(EVEN_HEAD, ends && !listed);
    if (listed) {
        SET(STAGE_BLOCKS, ends ? 2 : 1);
        SET(STAGE_COUNT, count);
        SET(EVEN_CHUNKS, NAN);
    }
}

/* A text of letters becomes a list unless a pipeline_balance expresses the same, as it does of
 * uneven chunks only where the last one alone has a block less. */
static void join_listed(calc_plan *plan, int64_t chunks)
{
    int64_t all = COUNT(STAGE_COUNT), ends = VALUE(STAGE_BLOCKS) == 2 ? 2 : 0, blocks = 0;
    for (int32_t i = 0; i < plan->blocks.count; i++) {
        blocks += plan->blocks.number[i];
    }
    if (VALUE(STAGE_BLOCKS) != 3 && (chunks <= 1 || (blocks + ends) % all == 0 ||
                                     (ends > 0 && (blocks + ends + 1) % all == 0))) {
        plan->blocks.count = 0;
    } else if (plan->blocks.count > 0) {
        SET(STAGE_BLOCKS, 3);
        SET(ENDS, 0);
    }
}

/* Such a list may also describe equal stages with chunks. */
static void join_stages(calc_plan *plan)
{
    if (SAYS(EVEN_CHUNKS)) {
        SET(CHUNKS, VALUE(EVEN_CHUNKS));
    }
    if (SAYS(EVEN_ENDS) || SAYS(EVEN_HEAD)) {
        SET(ENDS, COUNT(EVEN_ENDS) > 0 && COUNT(EVEN_HEAD) > 0);
    }
    if (SAYS(STAGE_BLOCKS)) {
        SET(ENDS, VALUE(STAGE_BLOCKS) == 2);
    }
    int64_t chunks = COUNT(STAGE_COUNT) / COUNT(PIPELINE);
    if (chunks > 1 && chunks * COUNT(PIPELINE) == COUNT(STAGE_COUNT)) {
        SET(CHUNKS, chunks);
    }
    if (SAYS(STAGE_BLOCKS)) {
        join_listed(plan, chunks);
    }
}

void calc_plan_split(calc_plan *plan, const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    bool staged = e->pipeline_par > 1;
    bool one = s->zero_stage == 1, sharded = s->zero_stage > 0;
    bool gathers = one && s->param_gather_overlap == CALC_CHOICE_TRUE;
    bool async = s->tensor_par > 1 && s->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_ASYNC;
    bool scatters = s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    /* Their product with context, tensor and pipeline parallelism is the number of processors. */
    int64_t copies = sharded ? s->data_par * s->context_par / s->fsdp_par : s->data_par;
    int64_t together = sharded ? s->fsdp_par / s->context_par : 1;
    SET(SHARD_DATA, together > 0 ? together : 1);
    SET(REPLICATED, copies);
    SET(HYBRID, sharded && copies > 1);
    /* Megatron Core's kernels start in the order of its streams only with one queue; Megatron-FSDP
     * and overlapped micro-batches need several. CUDA's own default is 8. */
    bool split = s->tensor_par > 1 || s->context_par > 1;
    bool batch = s->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH;
    SET(QUEUES, WHERE(s->zero_stage >= 2 || split || batch, s->zero_stage >= 2 ? 8
                                                            : split            ? 1
                                                                               : 32));
    set_stages(plan, e);
    SET(TENSOR_SWITCHES, !async     ? 0
                         : scatters ? CALC_PLAN_TENSOR_SCATTER
                                    : CALC_PLAN_TENSOR_REDUCE);
    bool v = e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    bool messages = s->pipeline_par_overlap && e->pipeline_interleaving > 1;
    SET(PIPELINE_SWITCHES, (staged && one && s->data_par_overlap) * CALC_PLAN_PIPELINE_REDUCE +
                               (staged && messages) * CALC_PLAN_PIPELINE_MESSAGE +
                               (staged && v) * CALC_PLAN_PIPELINE_DUALPIPE_V);
    bool reduces = s->data_par_overlap && !staged;
    SET(SHARDING_SWITCHES, (reduces && one) * CALC_PLAN_SHARDING_REDUCE +
                               (reduces && s->zero_stage == 2) * CALC_PLAN_SHARDING_REDUCE_GRAD +
                               gathers * (CALC_PLAN_SHARDING_SPLIT + CALC_PLAN_SHARDING_GATHER));
}

static void join_sizes(calc_plan *plan)
{
    /* A replica takes them in one pass, or divides them into micro-batches if there are stages. */
    if (SAYS(LOCAL_BATCH) && VALUE(PIPELINE) <= 1) {
        SET(MICROBATCH, VALUE(LOCAL_BATCH));
    } else if (SAYS(LOCAL_BATCH) && !SAYS(BATCH)) {
        SET(MICROBATCHES, fmax(1, floor(VALUE(LOCAL_BATCH) / VALUE(MICROBATCH))));
    }
    if (COUNT(HEADS_RANKS) > 1) {
        SET(CONTEXT, VALUE(HEADS_RANKS));
        SET(CONTEXT_TYPE, CALC_CONTEXT_PAR_TYPE_ULYSSES);
    } else if (COUNT(RING_RANKS) > 1) {
        SET(CONTEXT, VALUE(RING_RANKS));
        SET(CONTEXT_TYPE, CALC_CONTEXT_PAR_TYPE_RING);
    }
    if (SAYS(SHARD_REPLICAS)) {
        SET(SHARD_RANKS, VALUE(SHARD_REPLICAS));
        if (!(SAYS(PROCS) || SAYS(NODES) || SAYS(NODE_PROCS) || SAYS(DATA))) {
            SET(DATA, VALUE(SHARD_REPLICAS));
        }
    }
}

static void join_replicas(calc_plan *plan)
{
    if (COUNT(TORCH_FSDP) > 0) {
        SET(SHARDED, COUNT(TORCH_GATHERED) > 0 ? 2 : 3);
    }
    if (SAYS(REPLICATED)) {
        SET(INSTANCES, VALUE(REPLICATED));
    }
    if (!SAYS(SHARD_DATA)) {
        return;
    }
    double together = VALUE(SHARD_DATA) * VALUE(CONTEXT);
    SET(DATA, VALUE(SHARD_DATA) * VALUE(REPLICATED));
    SET(SHARD_RANKS, together);
    if (together <= 1) {
        SET(SHARDED, 0);
    }
}

static void join_formats(calc_plan *plan)
{
    if (COUNT(PRECISION) == CALC_DATATYPE_FLOAT8) {
        SET(PRECISION, CALC_DATATYPE_BFLOAT16);
        SET(FP8, 1);
    }
    if (SAYS(MAIN_GRAD) && !SAYS(GRAD)) {
        SET(GRAD, VALUE(MAIN_GRAD));
    }
    calc_format state = (calc_format)COUNT(STATE);
    if (state != CALC_FORMAT_AUTO && state != CALC_FORMAT_FLOAT32) {
        SET(GRAD, state);
        SET(MASTER, VALUE_OR(MASTER, state));
        SET(MOMENTS, VALUE_OR(MOMENTS, state));
    }
    if (SAYS(GRAD) || !SAYS(WIDE_GRAD)) {
        return;
    }
    int64_t precision = YES(WIDE_GRAD) ? CALC_DATATYPE_FLOAT32 : COUNT(PRECISION);
    SET(GRAD, precision == CALC_DATATYPE_FLOAT16    ? CALC_FORMAT_FLOAT16
              : precision == CALC_DATATYPE_BFLOAT16 ? CALC_FORMAT_BFLOAT16
                                                    : CALC_FORMAT_FLOAT32);
}

void calc_plan_shard_in_nodes(calc_plan *plan)
{
    double node = SAYS(NODE_PROCS)             ? VALUE(NODE_PROCS)
                  : SAYS(PROCS) && SAYS(NODES) ? floor(VALUE(PROCS) / VALUE(NODES))
                                               : 8;
    if (VALUE(SHARDED) < CALC_PLAN_SHARDED_IN_NODES) {
        return;
    }
    SET(SHARDED, VALUE(SHARDED) - CALC_PLAN_SHARDED_IN_NODES);
    if (!SAYS(SHARD_RANKS) && !SAYS(NODE_PROCS) && !SAYS(NODES)) {
        calc_plan_note(plan, "hybrid sharding is within a node; nodes of 8 processors are assumed");
    }
    SET(SHARD_RANKS, VALUE_OR(SHARD_RANKS, node));
}

void calc_plan_join(calc_plan *plan)
{
    int64_t pipeline = COUNT(PIPELINE_SWITCHES);
    int64_t sharding = COUNT(SHARDING_SWITCHES);
    join_sizes(plan);
    join_replicas(plan);
    join_stages(plan);
    join_formats(plan);
    if (SAYS(RECOMPUTES)) {
        SET(RECOMPUTE, COUNT(RECOMPUTES) > 0 ? COUNT_OR(RECOMPUTE, 2) : 0);
    }
    if (pipeline & CALC_PLAN_PIPELINE_REDUCE ||
        sharding & (CALC_PLAN_SHARDING_REDUCE | CALC_PLAN_SHARDING_REDUCE_GRAD)) {
        SET(GRAD_OVERLAP, 1);
    }
    if (COUNT(STATE_OFFLOAD) > 0) {
        SET(WEIGHT_OFFLOAD, 1);
        SET(OPT_OFFLOAD, 1);
        SET(GRAD_OFFLOAD, 1);
    }
    if (SAYS(COMPILED) && COUNT(EAGER) == 0) {
        SET(LOSS_COPIES, !(COUNT(COMPILED) & CALC_PLAN_COMPILED_LOSS));
        SET(EAGER, !(COUNT(COMPILED) & CALC_PLAN_COMPILED_BLOCKS));
    }
    if (pipeline & CALC_PLAN_PIPELINE_MESSAGE) {
        SET(STAGE_OVERLAP, 1);
    }
    if (pipeline & CALC_PLAN_PIPELINE_DUALPIPE_V) {
        SET(SCHEDULE, CALC_PIPELINE_SCHEDULE_DUALPIPE_V);
    }
    if (sharding & (CALC_PLAN_SHARDING_GATHER | CALC_PLAN_SHARDING_REDUCE_GRAD)) {
        SET(GATHER_OVERLAP, 1);
    }
}

enum { STEP = 2 /* spaces per level */ };

/* The release and the program that all settings need. */
static const char *needed(const calc_framework *framework, const calc_settings *settings,
                          bool script)
{
    const char *found = script ? framework->script : framework->version;
    for (size_t i = 0; i < settings->count; i++) {
        const calc_setting_row *row = calc_framework_row(framework, settings->item[i].key);
        const char *own = !row ? NULL : script ? row->script : row->release;
        found = own ? own : found;
    }
    return found;
}

static void write_header(calc_output *out, const calc_framework *framework,
                         const calc_settings *settings)
{
    calc_output_printf(out, "# %s %s, written by calc %s\n# %s\n", framework->title,
                       needed(framework, settings, false), CALC_VERSION, framework->launch);
}

static void write_options(calc_output *out, const char *name, const calc_settings *settings,
                          bool launcher)
{
    calc_output_printf(out, "%s=(\n", name);
    for (size_t i = 0; i < settings->count; i++) {
        const char *key = settings->item[i].key, *value = settings->item[i].value;
        bool launches = strcmp(key, "--nproc-per-node") == 0 || strcmp(key, "--nnodes") == 0;
        bool quote = strpbrk(value, "()[]{}*?$&;|<>!~#\\\"") != NULL;
        if (key[0] == '-' && launches == launcher) {
            const char *glue = quote ? " '" : *value ? " " : "";
            calc_output_printf(out, "    %s%s%s%s\n", key, glue, value, quote ? "'" : "");
        }
    }
    calc_output_text(out, ")\n");
}

static void write_shell(calc_output *out, const calc_framework *framework,
                        const calc_settings *settings)
{
    calc_output_text(out, "#!/usr/bin/env bash\n");
    write_header(out, framework, settings);
    for (size_t i = 0; i < settings->count; i++) {
        if (settings->item[i].key[0] != '-') { /* of the environment */
            calc_output_printf(out, "export %s=%s\n", settings->item[i].key,
                               settings->item[i].value);
        }
    }
    if (framework->serves) {
        write_options(out, "OPTIONS", settings, false);
        calc_output_printf(out,
                           "%s \"${1:?the model: its folder or its name}\" \\\n"
                           "    \"${OPTIONS[@]}\" \"${@:2}\"\n",
                           framework->script);
        return;
    }
    write_options(out, "LAUNCH", settings, true);
    write_options(out, "OPTIONS", settings, false);
    calc_output_printf(out, "torchrun \"${LAUNCH[@]}\" %s \"${OPTIONS[@]}\" \"$@\"\n",
                       needed(framework, settings, true));
}

void calc_settings_write_pools(calc_output *out, const calc_framework *framework,
                               const calc_settings settings[CALC_POOL_COUNT],
                               const int64_t procs[CALC_POOL_COUNT], const char *prefill_system)
{
    calc_output_printf(
        out,
        "#!/usr/bin/env bash\n# %s %s, written by calc %s\n"
        "# run it with bash, the pool and the model: its folder or its name; options "
        "follow\n# pools: prefill on %" PRId64 " processors%s%s, decode on %" PRId64 "; then %s\n",
        framework->title, framework->version, CALC_VERSION, procs[CALC_POOL_PREFILL],
        *prefill_system ? " of " : "", calc_utf8_shown(prefill_system, strlen(prefill_system)),
        procs[CALC_POOL_DECODE], framework->router);
    for (int p = 0; p < CALC_POOL_COUNT; p++) {
        write_options(out, p == CALC_POOL_PREFILL ? "PREFILL" : "DECODE", &settings[p], false);
    }
    calc_output_printf(out,
                       "case ${1:?the pool: prefill or decode} in\n"
                       "prefill) OPTIONS=(\"${PREFILL[@]}\" %s) ;;\n"
                       "decode) OPTIONS=(\"${DECODE[@]}\" %s) ;;\n"
                       "*) echo \"$1 is neither prefill nor decode\" >&2; exit 2 ;;\n"
                       "esac\n"
                       "%s \"${2:?the model: its folder or its name}\" \\\n"
                       "    \"${OPTIONS[@]}\" \"${@:3}\"\n",
                       framework->pool[CALC_POOL_PREFILL], framework->pool[CALC_POOL_DECODE],
                       framework->script);
}

/* A scalar, or the scalars of a list in its brackets. */
static void write_value(calc_output *out, const char *value, bool quote)
{
    bool list = value[0] == '[';
    do {
        size_t before = list ? strspn(value, "[], ") : 0;
        size_t length = list ? strcspn(value + before, "[], ") : strlen(value);
        const char *scalar = value + before;
        bool number = length > 0 && strspn(scalar, "0123456789.e+-") >= length;
        bool plain = !quote || (list && length == 0) || number ||
                     (length == 4 && strncmp(scalar, "true", length) == 0) ||
                     (length == 5 && strncmp(scalar, "false", length) == 0);
        calc_output_printf(out, plain ? "%.*s%.*s" : "%.*s\"%.*s\"", (int)before, value,
                           (int)length, value + before);
        value += before + length;
    } while (*value);
}

/* Whether the first `length` bytes of two keys are the same path. */
static bool same_path(const char *a, const char *b, size_t length)
{
    return strncmp(a, b, length) == 0 && (a[length] == '.' || a[length] == '\0') &&
           (b[length] == '.' || b[length] == '\0');
}

/* Whether an earlier item has the same first `length` bytes; item `i` was then written with it. */
static bool was_written(const calc_settings *settings, size_t i, size_t length)
{
    for (size_t j = 0; j < i; j++) {
        if (same_path(settings->item[j].key, settings->item[i].key, length)) {
            return true;
        }
    }
    return false;
}

static void write_level(calc_output *out, const calc_settings *settings, size_t first,
                        size_t prefix, int indent, bool json)
{
    bool empty = true;
    for (size_t i = first; i < settings->count; i++) {
        const char *key = settings->item[i].key;
        if (prefix > 0 && !same_path(key, settings->item[first].key, prefix - 1)) {
            continue;
        }
        size_t length = prefix + strcspn(key + prefix, ".");
        if (was_written(settings, i, length)) {
            continue;
        }
        calc_output_printf(out,
                           json ? "%s%*s\"%.*s\": " : "%s%*s%.*s:", json && !empty ? ",\n" : "",
                           indent, "", (int)(length - prefix), key + prefix);
        empty = false;
        if (key[length]) {
            calc_output_text(out, json ? "{\n" : "\n");
            write_level(out, settings, i, length + 1, indent + STEP, json);
            calc_output_printf(out, json ? "\n%*s}" : "%*s", json ? indent : 0, "");
        } else {
            calc_output_text(out, json ? "" : " ");
            write_value(out, settings->item[i].value, json);
            calc_output_text(out, json ? "" : "\n");
        }
    }
}

/* Keys have at most two levels: a table and its keys. */
static void write_toml(calc_output *out, const calc_settings *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        size_t table = strcspn(settings->item[i].key, ".");
        if (was_written(settings, i, table)) {
            continue;
        }
        calc_output_printf(out, "\n[%.*s]\n", (int)table, settings->item[i].key);
        for (size_t j = i; j < settings->count; j++) {
            const calc_setting *setting = &settings->item[j];
            if (same_path(setting->key, settings->item[i].key, table)) {
                calc_output_printf(out, "%s = ", setting->key + table + 1);
                write_value(out, setting->value, true);
                calc_output_text(out, "\n");
            }
        }
    }
}

void calc_settings_write(calc_output *out, const calc_framework *framework,
                         const calc_settings *settings)
{
    switch (framework->syntax) {
    case CALC_SYNTAX_SHELL:
        write_shell(out, framework, settings);
        break;
    case CALC_SYNTAX_YAML:
        write_header(out, framework, settings);
        write_level(out, settings, 0, 0, 0, false);
        break;
    case CALC_SYNTAX_TOML:
        write_header(out, framework, settings);
        write_toml(out, settings);
        break;
    default:
        calc_output_text(out, "{\n");
        write_level(out, settings, 0, 0, STEP, true);
        calc_output_text(out, "\n}\n");
        break;
    }
}
