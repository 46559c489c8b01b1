#include "mindspeed/arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/make.h"
#include "formats/import.h"
#include "io/utf8.h"
#include "mindspeed/memory.h"

char *calc_mindspeed_config_name(const calc_mindspeed_config *config,
                                 calc_mindspeed_generation generation,
                                 char text[CALC_MINDSPEED_NAME])
{
    int length = snprintf(text, CALC_MINDSPEED_NAME, "PP%d_TP%d_DP%d_CP%d_UP%d_MBS%d", config->pp,
                          config->tp, config->dp, config->cp, config->up, config->mbs);
    if (generation == CALC_MINDSPEED_GEN2) {
        snprintf(text + length, CALC_MINDSPEED_NAME - (size_t)length, "_VP%d_EP%d", config->vpp,
                 config->ep);
    }
    return text;
}

enum { LEAST_TOKENS = 4096 /* tokens of a rank, if sequences are split */, MOST_MBS = 2 };

/* Requirements of the algorithms on heads and sequences. */
static bool attends(const calc_mindspeed_job *job, bool all, const calc_mindspeed_config *c)
{
    bool heads = job->heads % (c->up * c->tp) == 0;
    bool tokens = job->seq % (2 * c->cp) == 0;
    int split = c->cp * c->up;
    bool wide = all || split == 1 || job->seq >= (int64_t)LEAST_TOKENS * split;
    return (heads || (!all && c->up == 1)) && (tokens || (!all && c->cp == 1)) && wide;
}

/* Adds every micro-batch, number of chunks and of experts of these degrees. */
static void add_all(const calc_mindspeed_job *job, bool newer, calc_mindspeed_config c,
                    calc_mindspeed_space *space)
{
    int each = job->batch / c.dp, layers = job->layers / c.pp, ranks = c.dp * c.cp * c.up;
    int most_mbs = newer && each > MOST_MBS ? MOST_MBS : each;
    int most_ep = newer && job->experts > 0 ? c.dp : 0;
    for (c.mbs = 1; c.mbs <= most_mbs; c.mbs++) {
        bool chunks = newer && c.pp > 2 && each / c.mbs % c.pp == 0;
        for (c.vpp = 1; each % c.mbs == 0 && c.vpp <= (chunks ? layers : 1); c.vpp++) {
            for (c.ep = most_ep > 0; layers % c.vpp == 0 && c.ep <= most_ep; c.ep++) {
                bool fits = c.ep == 0 ||
                            (job->experts % c.ep == 0 && c.dp % c.ep == 0 && ranks % c.ep == 0);
                if (fits) {
                    space->config =
                        calc_longer(space->config, space->count + 1, sizeof *space->config);
                    space->config[space->count++] = c;
                }
            }
        }
    }
}

void calc_mindspeed_space_list(const calc_mindspeed_job *job, calc_mindspeed_generation generation,
                               calc_mindspeed_space *space)
{
    bool newer = generation == CALC_MINDSPEED_GEN2;
    int devices = calc_mindspeed_devices(job), groups = job->groups;
    *space = (calc_mindspeed_space){0};
    for (int pp = 1; pp <= devices && pp <= job->layers; pp++) {
        int rest = devices % pp == 0 && job->layers % pp == 0 ? devices / pp : 0;
        for (int tp = 1; tp <= rest && tp <= job->per_node; tp *= 2) {
            bool divides =
                rest % tp == 0 && job->heads % tp == 0 && (groups <= 1 || groups % tp == 0);
            int ranks = divides ? rest / tp : 0;
            for (int split = 1; split <= ranks; split++) {
                int dp = ranks / split;
                bool fits = ranks % split == 0 && job->batch % dp == 0;
                for (int up = 1; fits && up <= split; up++) {
                    const calc_mindspeed_config c = {
                        .pp = pp, .tp = tp, .dp = dp, .cp = split / up, .up = up};
                    if (split % up == 0 && attends(job, !newer, &c)) {
                        add_all(job, newer, c, space);
                    }
                }
            }
        }
    }
}

CALC_FREES(calc_mindspeed_space_free, calc_mindspeed_space, of->config)

/* Flags of MindSpeed's planner: those it adds to Megatron's, those of Megatron's
 * that it ignores, and aliases. */

/* Settings that the planner decides. */
static const char decided[] =
    "--tensor-model-parallel-size --pipeline-model-parallel-size --context-parallel-size "
    "--context-parallel-algo --ulysses-degree-in-cp --expert-model-parallel-size "
    "--num-layers-per-virtual-pipeline-stage --num-virtual-stages-per-pipeline-rank "
    "--data-parallel-size --micro-batch-size --sequence-parallel";

/* The planner's own flags without effect here, the addresses of a cluster's nodes, and flags that
 * are read here and not with Megatron's. */
static const char silent[] =
    "--auto-parallel --master-addr --master-port --node-rank --work-dir --profile-memory "
    "--prof-file --profile-operator --distributed-backend --nnodes --target-nnodes --search-algo "
    "--reuse-fp32-param --recompute-activation-function --swap-attention";

/* Flags of the third generation, which is another program. */
static const char third_generation[] = "--auto-settings --auto-settings-type --auto-settings-ranks "
                                       "--auto-settings-work-dir --auto-settings-log-level";

/* Aliases. */
static const char *const renamed[][2] = {
    {"--nodes", "--nnodes"},
    {"--padded-vocab-size", "--vocab-size"},
    {"--enable-recompute-activation-function", "--recompute-activation-function"}};

static void rename_key(calc_setting *setting)
{
    setting->argument = 0; /* it counts picked words and means nothing to a user */
    for (size_t i = 0; setting->key[i]; i++) {
        setting->key[i] = setting->key[i] == '_' ? '-' : setting->key[i];
    }
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        if (strcmp(setting->key, renamed[i][0]) == 0) {
            setting->key = calc_longer(setting->key, 1, strlen(renamed[i][1]) + 1);
            strcpy(setting->key, renamed[i][1]);
        }
    }
}

static bool is_precision(const char *key)
{
    return strcmp(key, "--fp16") == 0 || strcmp(key, "--bf16") == 0;
}

/* Whether a setting of a script is overridden on the command line. */
static bool gives_way(const calc_settings *s, size_t at)
{
    for (size_t i = at + 1; i < s->count && s->item[at].line > 0; i++) {
        if (s->item[i].line == 0 &&
            (strcmp(s->item[i].key, s->item[at].key) == 0 ||
             (is_precision(s->item[i].key) && is_precision(s->item[at].key)))) {
            return true;
        }
    }
    return false;
}

/* Changes keys to their usual spelling. Drops settings that the planner decides, and settings of a
 * script that the command line repeats (a setting without a line).
 * @return false if out of memory */
static void mindspeed_flags_order(calc_settings *s)
{
    for (size_t i = 0; i < s->count; i++) {
        rename_key(&s->item[i]);
    }
    for (size_t i = 0; i < s->count; i++) {
        if (calc_is_word(decided, s->item[i].key) || gives_way(s, i)) {
            s->item[i].key[0] = '\0';
        }
    }
    calc_settings_drop(s);
}

enum { UNUSED_SHOWN = 6, MOST_DEVICES = 1 << 20, MOST_BATCH = 1 << 20, MOST_SIZE = 1 << 28 };

typedef struct reading {
    calc_mindspeed_arguments *out;
    const calc_settings *settings;
    calc_mindspeed_generation generation;
    const char *name;
    calc_errors *errors;
    int unused;
} reading;

static calc_status wrong(const reading *r, const calc_setting *setting, calc_status status,
                         const char *expected)
{
    return calc_errors_at(r->errors, status, setting->line > 0 ? r->name : NULL, setting->line,
                          setting->column, NULL, "%s: %s, found \"%s\"", setting->key, expected,
                          calc_utf8_shown(setting->value, strlen(setting->value)));
}

static void tell_unused(void *context, const char *key, calc_unread what, const char *assumed)
{
    (void)what, (void)assumed;
    reading *r = context;
    char *text = r->out->unused;
    if (!calc_is_word(silent, key) && r->unused++ < UNUSED_SHOWN) {
        calc_append(text, CALC_MINDSPEED_UNUSED, "%s%s", *text ? ", " : "",
                    calc_utf8_shown(key, strlen(key)));
    }
}

/* Checks that the required sizes are given, and reports the missing ones in one line. */
static calc_status check_model(const reading *r)
{
    static const struct {
        calc_plan_member member;
        const char *flag;
    } needed[] = {{CALC_PLAN_BLOCKS, "--num-layers"},
                  {CALC_PLAN_HIDDEN, "--hidden-size"},
                  {CALC_PLAN_HEADS, "--num-attention-heads"},
                  {CALC_PLAN_SEQ, "--seq-length"}};
    char list[128] = "";
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (calc_plan_value(&r->out->plan, needed[i].member) < 1) {
            calc_append(list, sizeof list, "%s%s", *list ? ", " : "", needed[i].flag);
        }
    }
    return *list ? calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, 0, 0, NULL,
                                  "the size of the model is not said: missing %s", list)
                 : CALC_OK;
}

static calc_status read_plan(reading *r)
{
    const calc_import import = {.framework = &calc_framework_mindspeed,
                                .settings = r->settings,
                                .name = r->name,
                                .unread = tell_unused,
                                .context = r};
    const calc_mindspeed_config one = {1, 1, 1, 1, 1, 1, 1, 0};
    calc_exec exec;
    calc_mindspeed_arguments *out = r->out;
    calc_status status = calc_import_plan(&import, &out->plan, r->errors);
    if (r->unused > UNUSED_SHOWN) {
        calc_append(out->unused, CALC_MINDSPEED_UNUSED, " and %d more", r->unused - UNUSED_SHOWN);
    }
    status =
        status ? status : calc_mindspeed_exec_of(&out->plan, &one, &out->app, &exec, r->errors);
    status = status ? status : check_model(r);
    return status ? status : calc_import_complete(&import, &out->app, r->errors);
}

static calc_status need(const reading *r, const char *flag, const char *what)
{
    return calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, 0, 0, NULL, "missing %s: %s", flag,
                          what);
}

/* Reads the number of devices, with the node count that only the planner has. */
static calc_status read_devices(const reading *r)
{
    calc_mindspeed_job *job = &r->out->job;
    const calc_plan *plan = &r->out->plan;
    const calc_setting *target = calc_settings_last(r->settings, "--target-nnodes");
    if (!calc_plan_says(plan, CALC_PLAN_NODES)) {
        return need(r, "--nnodes", "how many nodes there are");
    }
    if (!calc_plan_says(plan, CALC_PLAN_NODE_PROCS)) {
        return need(r, "--nproc-per-node", "how many devices a node has");
    }
    double nodes = calc_plan_value(plan, CALC_PLAN_NODES);
    double each = calc_plan_value(plan, CALC_PLAN_NODE_PROCS), planned = nodes;
    if (target) {
        if (!calc_decimal_read(target->value, true, 1, MOST_DEVICES, &planned)) {
            return wrong(r, target, CALC_ERR_RANGE, "expected a whole number of at least 1");
        }
        if (r->generation == CALC_MINDSPEED_GEN1) {
            return wrong(r, target, CALC_ERR_UNSUPPORTED,
                         "only the second generation plans for other devices than it has");
        }
    }
    if (nodes < 1 || each < 1 || fmax(nodes, planned) * each > MOST_DEVICES) {
        return calc_errors_at(r->errors, CALC_ERR_RANGE, r->name, 0, 0, NULL,
                              "%g nodes of %g devices: expected 1 to %d devices",
                              fmax(nodes, planned), each, MOST_DEVICES);
    }
    job->nodes = (int)nodes;
    job->per_node = (int)each;
    job->target_nodes = (int)planned;
    return CALC_OK;
}

static calc_status read_mode(const reading *r)
{
    const calc_setting *mode = calc_settings_last(r->settings, "--search-algo");
    const calc_setting *later = NULL;
    for (size_t i = 0; i < r->settings->count && !later; i++) {
        const calc_setting *s = &r->settings->item[i];
        later = calc_is_word(third_generation, s->key) ? s : NULL;
    }
    if (later) {
        return calc_errors_at(r->errors, CALC_ERR_UNSUPPORTED, later->line > 0 ? r->name : NULL,
                              later->line, later->column, NULL,
                              "%s: the third generation of the planner is not known here, only "
                              "--auto-parallel",
                              later->key);
    }
    if (mode && strcmp(mode->value, "fast_mode") != 0 &&
        strcmp(mode->value, "full_precision") != 0) {
        return wrong(r, mode, CALC_ERR_RANGE, "expected fast_mode or full_precision");
    }
    r->out->every = mode && strcmp(mode->value, "full_precision") == 0;
    return CALC_OK;
}

/* Counts of the job, within the range of the planner's sums. */
static calc_status read_sizes(const reading *r)
{
    calc_mindspeed_job *job = &r->out->job;
    const calc_app *app = &r->out->app;
    double multiple = (double)(app->vocab_multiple > 0 ? app->vocab_multiple : 128);
    int64_t ffn = app->expert_feedforward > 0 ? app->expert_feedforward : app->feedforward;
    const struct {
        const char *flag;
        double value;
        int most, *out;
    } sizes[] = {{"--num-layers", (double)app->num_blocks, MOST_BATCH, &job->layers},
                 {"--hidden-size", (double)app->hidden, MOST_SIZE, &job->hidden},
                 {"--ffn-hidden-size", (double)ffn, MOST_SIZE, &job->ffn},
                 {"--num-attention-heads", (double)app->attn_heads, MOST_BATCH, &job->heads},
                 {"--num-query-groups",
                  (double)(app->kv_heads > 0 ? app->kv_heads : app->attn_heads), MOST_BATCH,
                  &job->groups},
                 {"--kv-channels", (double)app->attn_size, MOST_SIZE, &job->head},
                 {"--seq-length", (double)app->seq_size, MOST_SIZE, &job->seq},
                 {"--vocab-size", ceil((double)app->vocab_size / multiple) * multiple, MOST_SIZE,
                  &job->vocab},
                 {"--num-experts", (double)app->num_experts, MOST_BATCH, &job->experts},
                 {"--moe-router-topk", app->num_experts > 0 ? (double)app->experts_per_token : 0,
                  MOST_BATCH, &job->topk},
                 {"--global-batch-size", calc_plan_value(&r->out->plan, CALC_PLAN_BATCH),
                  MOST_BATCH, &job->batch}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (!(sizes[i].value >= 0 && sizes[i].value <= sizes[i].most)) {
            return calc_errors_at(r->errors, CALC_ERR_RANGE, r->name, 0, 0, NULL,
                                  "%s: %.15g is more than %d", sizes[i].flag, sizes[i].value,
                                  sizes[i].most);
        }
        *sizes[i].out = (int)sizes[i].value;
    }
    return CALC_OK;
}

/* Assumptions of the planner. */
static calc_status check(const reading *r)
{
    const calc_mindspeed_job *job = &r->out->job;
    const calc_plan *plan = &r->out->plan;
    if (calc_plan_value(plan, CALC_PLAN_BATCH) < 1) {
        return need(r, "--global-batch-size", "how many sequences a step has");
    }
    if (!calc_plan_says(plan, CALC_PLAN_PRECISION)) {
        return need(r, "--bf16 or --fp16", "the planner knows no other numbers");
    }
    if (calc_plan_value(plan, CALC_PLAN_FLASH) == 0) {
        return need(r, "--use-flash-attn", "the planner counts on flash attention");
    }
    if (calc_plan_value(plan, CALC_PLAN_LATENT) > 0) {
        return calc_errors_at(r->errors, CALC_ERR_UNSUPPORTED, r->name, 0, 0, NULL,
                              "--multi-latent-attention: the planner does not know it");
    }
    if (!calc_plan_says(plan, CALC_PLAN_HEAD_SIZE) && job->heads > 0 &&
        job->hidden % job->heads != 0) {
        return calc_errors_at(
            r->errors, CALC_ERR_RULE, r->name, 0, 0, "--kv-channels gives heads another width",
            "--num-attention-heads %d does not divide --hidden-size %d", job->heads, job->hidden);
    }
    return CALC_OK;
}

calc_status calc_mindspeed_arguments_read(calc_mindspeed_arguments *out, calc_settings *settings,
                                          calc_mindspeed_generation generation, const char *name,
                                          calc_errors *errors)
{
    reading r = {out, settings, generation, name, errors, 0};
    *out = (calc_mindspeed_arguments){0};
    mindspeed_flags_order(settings);
    calc_status status = read_mode(&r);
    status = status ? status : read_plan(&r);
    status = status ? status : read_devices(&r);
    status = status ? status : read_sizes(&r);
    if (status != CALC_OK) {
        return status;
    }
    calc_mindspeed_job *job = &r.out->job;
    const calc_plan *plan = &r.out->plan;
    job->swiglu = calc_plan_value(plan, CALC_PLAN_FFN_TYPE) == CALC_FFN_TYPE_SWIGLU;
    job->untied = calc_plan_value(plan, CALC_PLAN_TIED) == 0;
    job->fp16 = calc_plan_value(plan, CALC_PLAN_PRECISION) == CALC_DATATYPE_FLOAT16;
    job->distributed_optimizer = calc_plan_value(plan, CALC_PLAN_DIST_OPT) > 0;
    job->full_recompute = calc_plan_value(plan, CALC_PLAN_RECOMPUTE) == 2;
    job->reuse_fp32 = calc_settings_last(r.settings, "--reuse-fp32-param") != NULL;
    job->recompute_activation_function =
        calc_settings_last(r.settings, "--recompute-activation-function") != NULL;
    job->swap_attention = calc_settings_last(r.settings, "--swap-attention") != NULL;
    return check(&r);
}
