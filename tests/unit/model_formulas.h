/** @file model_formulas.h  Words and numbers for formulas (formula.h) about operators, costs,
 * stages and steps of a layout. Lines that begin anew or change something:
 *
 *      case moe 2 1 4
 *          an application of modern_case.h or stage_case.h with 2, 1 and 4 ranks of tensor,
 * pipeline and data parallelism serve llama3-70B h200 decode 8 1 1 64 a shipped model on a shipped
 * machine, as serving_exec() put networks[0].bytes_per_s = fast / 2 a number of the machine, in the
 * unit that the model has it in dense, moe, head, mtp, embedding the operators that are listed,
 * which numbers all.* are of
 *
 *  Lines that check something:
 *
 *      has NAME, lacks NAME        an operator is listed, or not
 *      again NAME, NAME            all that are listed and that recomputation repeats, in order
 *      kernel NAME = 2, 3, 4, 5    bytes and arithmetic of one that runs once each way
 *      tensor_ops all_gather 2 4   how many of these ranks of tensor parallelism do each way
 *      line dense.reduce 5, 6      latency and seconds per byte of a group
 *
 *  Numbers: members of the operator [NAME]; of the sum of those listed, as all.kept_bytes; of the
 *  costs of a stage's parts, as moe_block.fw_s; of calc_run(), as stats.total_time; and of what the
 *  stage [0] weighs, stores, takes and sends, as memory.activation. After a change all of them are
 *  computed anew. */
#ifndef CALC_TEST_MODEL_FORMULAS_H
#define CALC_TEST_MODEL_FORMULAS_H

#include "formula.h"
#include "model/operators/parameters.h"
#include "serving_case.h"
#include "spec/field.h"
#include "stage_case.h"

static stage_case model;
static char model_operator[64];
static size_t model_stage;
static size_t (*model_list)(const calc_cost_context *context, calc_operator *out);
static bool model_fresh, model_ran, model_shipped;

static size_t model_dense(const calc_cost_context *context, calc_operator *out)
{
    return calc_block_operators(context, CALC_DENSE_BLOCK, out);
}

static size_t model_moe(const calc_cost_context *context, calc_operator *out)
{
    return calc_block_operators(context, CALC_MOE_BLOCK, out);
}

static size_t model_mtp(const calc_cost_context *context, calc_operator *out)
{
    return calc_transformer_mtp(context->shape, context->strategy, out);
}

static unsigned model_recompute(void)
{
    return calc_operator_recompute(&model.c.exec.strategy, model.c.exec.training);
}

static void model_refresh(void)
{
    modern_case *c = &model.c;
    if (model_fresh) {
        return;
    }
    settle(&model);
    c->count = model_list(&c->context, c->operators);
    calc_cost_sum(&c->context, c->operators, c->count, model_recompute(), &c->cost);
    model_fresh = true;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void model_case(const char *rest)
{
    static const struct {
        const char *name;
        calc_app (*app)(void);
    } apps[] = {
        {"small", small_app},   {"modern", modern_app},         {"moe", moe_app},
        {"latent", latent_app}, {"without_ends", without_ends}, {"experts_only", experts_only}};
    char name[32];
    int tensor, pipeline, data;
    ck_assert_int_eq(sscanf(rest, "%31s %d %d %d", name, &tensor, &pipeline, &data), 4);
    for (size_t i = 0; i < sizeof apps / sizeof *apps; i++) {
        if (strcmp(apps[i].name, name) == 0) {
            build(&model, apps[i].app(), modern_exec(tensor, pipeline, data));
            model_list = strcmp(name, "moe") == 0 ? model_moe : model_dense;
            model_operator[0] = '\0';
            model_stage = 0;
            return;
        }
    }
    formula_fail("no application is called %s", name);
}

static void model_load(const char *rest)
{
    char app[64], machine[64], path[512];
    ck_assert_int_eq(sscanf(rest, "%63s %63s", app, machine), 2);
    model.c.app = shipped_app(app);
    model_shipped = true;
    snprintf(path, sizeof path, "%s/systems/%s.json", CALC_DATA_DIR_SOURCE, machine);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &model.c.system, path, NULL), CALC_OK);
}

static void model_serve(const char *rest)
{
    static const char *const phases[] = {[CALC_INFERENCE_PHASE_NONE] = "none",
                                         [CALC_INFERENCE_PHASE_PREFILL] = "prefill",
                                         [CALC_INFERENCE_PHASE_DECODE] = "decode",
                                         [CALC_INFERENCE_PHASE_SERVE] = "serve",
                                         [CALC_INFERENCE_PHASE_DISAGGREGATED] = "disaggregated"};
    char phase[32];
    int n[4];
    size_t i = 0;
    ck_assert_int_eq(sscanf(rest, "%*s %*s %31s %d %d %d %d", phase, &n[0], &n[1], &n[2], &n[3]),
                     5);
    while (strcmp(phases[i], phase) != 0) {
        ck_assert_uint_lt(++i, sizeof phases / sizeof *phases);
    }
    model_load(rest);
    model.c.exec = serving_exec((calc_inference_phase)i, n[0], n[1], n[2], n[3]);
}

static void model_put(const char *rest)
{
    calc_chip *chip = &model.c.system.chip;
    const struct {
        const char *name;
        double *number;
    } numbers[] = {{"mem2.bytes_per_s", &chip->mem2.bytes_per_s},
                   {"mem1.capacity_bytes", &chip->mem1.capacity_bytes},
                   {"mem2.capacity_bytes", &chip->mem2.capacity_bytes},
                   {"matrix.flop_per_s", &chip->matrix[model.c.exec.strategy.datatype].flop_per_s},
                   {"networks[0].bytes_per_s", &model.c.system.networks[0].bytes_per_s},
                   {"networks[1].bytes_per_s", &model.c.system.networks[1].bytes_per_s},
                   {"networks[0].latency_s", &model.c.system.networks[0].latency_s},
                   {"networks[1].latency_s", &model.c.system.networks[1].latency_s},
                   {"host.block_s", &chip->host.block_s},
                   {"host.moe_block_s", &chip->host.moe_block_s},
                   {"host.expert_s", &chip->host.expert_s},
                   {"issue_s", &model.c.exec.inference.traits.issue_s},
                   {"gap_s", &model.c.exec.inference.traits.gap_s},
                   {"overlap.data_par", &chip->overlap.data_par},
                   {"mem_reserved_bytes", &chip->mem_reserved_bytes}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        size_t length = strlen(numbers[i].name);
        if (strncmp(numbers[i].name, rest, length) == 0 && rest[length] == ' ') {
            double value = formula_number(rest + length + 3);
            *numbers[i].number = value;
            return;
        }
    }
    formula_fail("no number to put: %s", rest);
}

static void model_again(const char *want)
{
    char names[1024] = "";
    for (size_t i = 0; i < model.c.count; i++) {
        if (model.c.operators[i].repeated_by & model_recompute()) {
            strcat(strcat(names, names[0] ? ", " : ""), model.c.operators[i].name);
        }
    }
    ck_assert_str_eq(names, want);
    formula_checks++;
}

/* Bytes and arithmetic, forward and backward, of a kernel that runs once each way. */
static void model_kernel(const char *rest)
{
    char name[64];
    double want[4];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(rest, "=") - 1, rest);
    formula_at = strchr(rest, '=') + 1;
    for (int i = 0; i < 4; i++) {
        want[i] = formula_sum();
        ck_assert(formula_next(i < 3 ? "," : ""));
    }
    const calc_operator *o = named(&model.c, name);
    ck_assert_int_eq(o->kind, CALC_OPERATOR_VECTOR);
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], want[0]);
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], want[1]);
    ck_assert_double_eq(o->flop[CALC_PASS_FW], want[2]);
    ck_assert_double_eq(o->flop[CALC_PASS_AGRAD], want[3]);
    ck_assert_double_eq(o->launches[CALC_PASS_FW], 1);
    ck_assert_double_eq(o->launches[CALC_PASS_AGRAD], 1);
    ck_assert_double_eq(o->launches[CALC_PASS_WGRAD], 0);
    formula_checks += 8;
}

/* How often the tensor-parallel ranks do an operation, forward and backward, all on T * H elements.
 */
static void model_tensor_ops(const char *rest)
{
    static const char *const ops[] = {[CALC_OP_ALL_GATHER] = "all_gather",
                                      [CALC_OP_REDUCE_SCATTER] = "reduce_scatter",
                                      [CALC_OP_ALL_REDUCE] = "all_reduce"};
    char name[32];
    int want[2], found[2] = {0};
    ck_assert_int_eq(sscanf(rest, "%31s %d %d", name, &want[0], &want[1]), 3);
    for (size_t i = 0; i < model.c.count; i++) {
        const calc_operator *o = &model.c.operators[i];
        bool is = o->kind == CALC_OPERATOR_COLLECTIVE && o->group == CALC_IN_TENSOR;
        for (calc_pass pass = CALC_PASS_FW; is && pass < CALC_PASS_COUNT; pass++) {
            calc_collective_op op = o->op[pass];
            ck_assert_double_eq(o->message_bytes, 32 * 64 * 2);
            ck_assert_double_eq(o->times[pass], 1);
            found[pass > 0] +=
                op < sizeof ops / sizeof *ops && ops[op] && strcmp(ops[op], name) == 0;
        }
    }
    ck_assert_int_eq(found[0], want[0]);
    ck_assert_int_eq(found[1], want[1]);
    formula_checks += 2;
}

/* A line of a group, by its name: the latency and the seconds of a byte. */
static void model_line(const char *rest)
{
    const calc_stage_lines *l = &model.lines;
    const struct {
        const char *name;
        const calc_collective_line *line;
    } lines[] = {{"dense.reduce", &l->dense.reduce},
                 {"dense.gather", &l->dense.gather},
                 {"dense.sum", &l->dense.sum},
                 {"expert.reduce", &l->expert.reduce},
                 {"expert.gather", &l->expert.gather},
                 {"expert.sum", &l->expert.sum},
                 {"message", &l->message},
                 {"ends", &l->ends}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        size_t length = strlen(lines[i].name);
        if (strncmp(rest, lines[i].name, length) == 0 && rest[length] == ' ') {
            double latency_s = formula_number(rest + length);
            ck_assert(formula_next(","));
            assert_near(lines[i].line->latency_s, latency_s);
            assert_near(lines[i].line->s_per_byte, formula_sum());
            formula_checks += 2;
            return;
        }
    }
    formula_fail("no line is called that");
}

/* Lines "has NAME" and "lacks NAME". */
static void model_has(const char *rest)
{
    ck_assert_msg(has_operator(&model.c, rest) == (formula_line[0] == 'h'), "%s", formula_line);
    formula_checks++;
}

static bool model_says(const char *word, const char *rest)
{
    static const struct {
        const char *name;
        size_t (*list)(const calc_cost_context *context, calc_operator *out);
    } lists[] = {{"dense", model_dense},
                 {"moe", model_moe},
                 {"mtp", model_mtp},
                 {"head", calc_block_head},
                 {"embedding", calc_block_embedding}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (strcmp(word, lists[i].name) == 0 && !rest[0]) {
            model_list = lists[i].list;
            model_fresh = false;
            return true;
        }
    }
    const struct {
        const char *word;
        void (*checks)(const char *rest);
    } checks[] = {{"kernel", model_kernel}, {"tensor_ops", model_tensor_ops},
                  {"line", model_line},     {"again", model_again},
                  {"has", model_has},       {"lacks", model_has}};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (strcmp(word, checks[i].word) == 0) {
            model_refresh();
            checks[i].checks(rest);
            return true;
        }
    }
    const struct {
        const char *word;
        void (*changes)(const char *rest);
    } changes[] = {{"case", model_case},

                   {"serve", model_serve},
                   {"put", model_put},
                   {"set", NULL}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        if (strcmp(word, changes[i].word) == 0) {
            model_fresh = model_ran = false;
            if (changes[i].changes) {
                changes[i].changes(rest);
            }
            return true;
        }
    }
    return false;
}

static void model_choose(const char *name)
{
    if (isdigit(name[0])) {
        model_stage = (size_t)atoi(name);
    } else {
        strcpy(model_operator, name);
    }
}

/* ---- Numbers --------------------------------------------------------------------------------- */

typedef struct model_member {
    const char *name;
    size_t at;
    char type; /* 'd'ouble, 'b'ool, 'l'ong, 'i'nt */
} model_member;

#define MEMBER(name, of, member)                                                                   \
    {                                                                                              \
        name, offsetof(of, member),                                                                \
            _Generic(((of *)0)->member, double                                                     \
                     : 'd', bool                                                                   \
                     : 'b', int64_t                                                                \
                     : 'l', default                                                                \
                     : 'i')                                                                        \
    }

#define OPERATOR(member) MEMBER(#member, calc_operator, member)
#define OPERATOR_PASSES(member)                                                                    \
    MEMBER(#member ".fw", calc_operator, member[CALC_PASS_FW]),                                    \
        MEMBER(#member ".agrad", calc_operator, member[CALC_PASS_AGRAD]),                          \
        MEMBER(#member ".wgrad", calc_operator, member[CALC_PASS_WGRAD])

static const model_member operator_members[] = {
    OPERATOR_PASSES(flop),    OPERATOR_PASSES(bytes),
    OPERATOR_PASSES(work),    OPERATOR_PASSES(launches),
    OPERATOR_PASSES(times),   OPERATOR_PASSES(op),
    OPERATOR_PASSES(edge_op), OPERATOR(kind),
    OPERATOR(group),          OPERATOR(inputs),
    OPERATOR(outputs),        OPERATOR(weights),
    OPERATOR(kept_bytes),     OPERATOR(message_bytes),
    OPERATOR(passing_bytes),  OPERATOR(saved_bytes),
    OPERATOR(sub_ranks),      OPERATOR(sub_stride),
    OPERATOR(expert),         OPERATOR(hidden_by_attention),
    OPERATOR(repeats),        OPERATOR(repeated_by),
};

#define COST(member) MEMBER(#member, calc_cost, member)
#define COST_LINKS(member)                                                                         \
    COST(member.fw_bytes), COST(member.bw_bytes), COST(member.re_bytes), COST(member.fw_link_s),   \
        COST(member.bw_link_s), COST(member.re_link_s), COST(member.fw_exposed_s),                 \
        COST(member.bw_exposed_s), COST(member.re_exposed_s)

static const model_member cost_members[] = {
    MEMBER("flop.fw", calc_cost, work[CALC_PASS_FW].flop),
    MEMBER("flop.agrad", calc_cost, work[CALC_PASS_AGRAD].flop),
    MEMBER("flop.wgrad", calc_cost, work[CALC_PASS_WGRAD].flop),
    MEMBER("bytes.fw", calc_cost, work[CALC_PASS_FW].bytes),
    MEMBER("bytes.agrad", calc_cost, work[CALC_PASS_AGRAD].bytes),
    MEMBER("bytes.wgrad", calc_cost, work[CALC_PASS_WGRAD].bytes),
    COST(fw_s),
    COST(agrad_s),
    COST(wgrad_s),
    COST(re_s),
    COST(dense_weights),
    COST(expert_weights),
    COST(kept_bytes),
    COST(kept_whole_bytes),
    COST(passing_bytes),
    COST_LINKS(tensor),
    COST_LINKS(context),
    COST_LINKS(expert),
    COST_LINKS(edge),
};

/* All that is said of a stage. */
typedef struct model_numbers {
    calc_stage_class of;
    calc_stage_weights weights;
    calc_stage_memory memory;
    calc_stage_state state;
    calc_stage_pass pass;
    stage_spent spent;
    calc_stage_reduction reduction;
    calc_stage_tier2 away;
    calc_stage_offload offload;
    calc_stage_sharded sharded;
    double optimizer_s, muon_s, deferred_bytes;
} model_numbers;

#define NUMBER(member) MEMBER(#member, model_numbers, member)
#define STAGES(member) MEMBER(#member, stage_case, member)

static const model_member stage_members[] = {
    NUMBER(of.stages),
    NUMBER(weights.dense),
    NUMBER(weights.expert),
    NUMBER(memory.state),
    NUMBER(memory.activation),
    NUMBER(memory.working),
    NUMBER(memory.ends),
    NUMBER(memory.framework),
    NUMBER(memory.in_flight),
    NUMBER(memory.total),
    NUMBER(state.weight),
    NUMBER(state.grad),
    NUMBER(state.optimizer),
    NUMBER(pass.fw_s),
    NUMBER(pass.agrad_s),
    NUMBER(pass.wgrad_s),
    NUMBER(spent.fw_s),
    NUMBER(spent.bw_s),
    NUMBER(spent.re_s),
    NUMBER(spent.tensor_s),
    NUMBER(spent.context_s),
    NUMBER(spent.expert_s),
    NUMBER(spent.repeated_s),
    NUMBER(spent.sharded_s),
    NUMBER(spent.fw_offload_s),
    NUMBER(spent.bw_offload_s),
    NUMBER(spent.message_s),
    NUMBER(spent.host_s),
    NUMBER(spent.ends_s),
    NUMBER(spent.all_s),
    NUMBER(reduction.reduce_s),
    NUMBER(reduction.gather_s),
    NUMBER(reduction.reduce_beside_s),
    NUMBER(reduction.gather_beside_s),
    NUMBER(away.weight),
    NUMBER(away.optimizer),
    NUMBER(away.activation),
    NUMBER(offload.fw_s),
    NUMBER(offload.bw_s),
    NUMBER(sharded.fw_s),
    NUMBER(sharded.bw_s),
    NUMBER(sharded.link_s),
    NUMBER(optimizer_s),
    NUMBER(muon_s),
    NUMBER(deferred_bytes),
};

static const model_member case_members[] = {
    STAGES(lines.dense_ranks),
    STAGES(lines.expert_ranks),
    STAGES(lines.dense_shards),
    STAGES(lines.expert_shards),
    STAGES(lines.nodes_log2),
    STAGES(terms.growth),
    STAGES(terms.microbatches),
    STAGES(terms.deferred.any),
    STAGES(terms.deferred.all_s),
    STAGES(terms.deferred.bytes),
    STAGES(terms.head.wgrad_s),
    STAGES(terms.head.kept_bytes),
    STAGES(terms.head.weights.dense),
    MEMBER("terms.dense_block.fw_s", stage_case, terms.block[0].fw_s),
    MEMBER("terms.dense_block.agrad_s", stage_case, terms.block[0].agrad_s),
    MEMBER("terms.dense_block.wgrad_s", stage_case, terms.block[0].wgrad_s),
    MEMBER("terms.dense_block.away_bytes", stage_case, terms.block[0].away_bytes),
    MEMBER("terms.moe_block.away_bytes", stage_case, terms.block[1].away_bytes),
    STAGES(terms.away),
    STAGES(terms.muon.any),
    STAGES(links.tied_s),
    STAGES(links.gather_dense_latency_s),
    STAGES(parts.message_bytes),
    MEMBER("host_s.dense", stage_case, parts.host_s[0]),
    MEMBER("host_s.moe", stage_case, parts.host_s[1]),
    MEMBER("muon.dense_block.dense_s", stage_case, parts.muon[0].dense_s),
    MEMBER("muon.dense_block.longest_s", stage_case, parts.muon[0].longest_s),
    STAGES(stages.count),
    MEMBER("framework.dense", stage_case, parts.framework_bytes[1][0]),
    MEMBER("framework.moe", stage_case, parts.framework_bytes[0][1]),
    MEMBER("framework.both", stage_case, parts.framework_bytes[1][1]),
};

static bool model_find(const model_member *members, size_t count, const char *name,
                       const void *object, double *out)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(members[i].name, name) == 0) {
            const char *at = (const char *)object + members[i].at;
            *out = members[i].type == 'd'   ? *(const double *)(const void *)at
                   : members[i].type == 'b' ? (double)*(const bool *)(const void *)at
                   : members[i].type == 'l' ? (double)*(const int64_t *)(const void *)at
                                            : (double)*(const int *)(const void *)at;
            return true;
        }
    }
    return false;
}

#define FIND(members, name, object, out)                                                           \
    model_find(members, sizeof members / sizeof *(members), name, object, out)

static bool model_of_operator(const char *name, double *out)
{
    static const calc_operator any;
    if (!FIND(operator_members, name, &any, out) && strcmp(name, "again") != 0 &&
        strncmp(name, "sent.", 5) != 0) {
        return false;
    }
    const calc_operator *o = named(&model.c, model_operator);
    if (strcmp(name, "again") == 0) { /* share of it that recomputation repeats */
        *out = calc_operator_again(o, model_recompute());
    } else if (strncmp(name, "sent.", 5) == 0) { /* bytes of a message of a pass */
        *out = calc_operator_message_bytes(o, name[5] == 'f'   ? CALC_PASS_FW
                                              : name[5] == 'a' ? CALC_PASS_AGRAD
                                                               : CALC_PASS_WGRAD);
    } else {
        return FIND(operator_members, name, o, out);
    }
    return true;
}

/* Of the parts of a layout: dense_block.fw_s. */
static bool model_of_part(const char *name, double *out)
{
    const struct {
        const char *prefix;
        const calc_cost *cost;
    } parts[] = {{"all.", &model.c.cost},
                 {"dense_block.", &model.parts.block[CALC_DENSE_BLOCK]},
                 {"moe_block.", &model.parts.block[CALC_MOE_BLOCK]},
                 {"embedding.", &model.parts.embedding},
                 {"head.", &model.parts.head},
                 {"mtp.", &model.parts.mtp}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t length = strlen(parts[i].prefix);
        if (strncmp(name, parts[i].prefix, length) == 0) {
            return FIND(cost_members, name + length, parts[i].cost, out);
        }
    }
    return false;
}

static bool model_of_stage(const char *name, double *out)
{
    static model_numbers n;
    stage_case *s = &model;
    const calc_stage_class *of = &s->stages.item[model_stage];
    const calc_cost *block =
        &s->parts.block[s->parts.block[0].fw_s > 0 ? CALC_DENSE_BLOCK : CALC_MOE_BLOCK];
    const calc_strategy *x = &s->c.exec.strategy;
    n.of = *of;
    n.weights = weights_of(s, model_stage);
    n.memory = memory_of(s, model_stage);
    n.state = calc_stage_state_of(&s->c.context, &s->c.exec, &s->terms, of);
    n.pass = pass_of(s, model_stage);
    n.spent = spent_of(s, model_stage);
    n.reduction = reduction_of(s, model_stage);
    n.away = calc_stage_tier2_at(&s->terms, of, &n.weights,
                                 calc_stage_in_flight(&s->terms, s->c.exec.pipeline_schedule,
                                                      of->position, s->stages.chunks));
    n.sharded = calc_stage_sharded_of(&s->c.context, x, block, &s->lines);
    n.offload = calc_stage_offload_of(&s->c.context, x, block, &n.sharded);
    n.optimizer_s = calc_stage_optimizer_sum(&s->terms, of, &n.weights);
    n.muon_s = calc_stage_muon_s(&s->terms, of);
    n.deferred_bytes = calc_stage_deferred_bytes(&s->terms, of);
    const stage_spent *t = &n.spent;
    double sum_s = t->fw_s + t->bw_s + t->re_s + t->tensor_s + t->context_s + t->expert_s +
                   t->repeated_s + t->sharded_s + t->fw_offload_s + t->bw_offload_s + t->message_s +
                   t->host_s + t->ends_s;
    assert_near(n.memory.state, n.state.weight + n.state.grad + n.state.optimizer);
    ck_assert_double_eq_tol(sum_s, t->all_s, 1e-9 * t->all_s);
    return FIND(stage_members, name, &n, out);
}

/* Of calc_run(), by its name in files. In training the times of a step add up. */
static double model_of_stats(const char *name)
{
    static calc_stats s;
    static calc_verdict verdict;
    const modern_case *c = &model.c;
    if (!model_ran) {
        calc_errors errors = {0};
        memset(&s, 0x55, sizeof s);
        ck_assert_msg(!model_shipped ||
                          calc_check(&c->app, &c->system, &c->exec, &errors) == CALC_OK,
                      "%s: %s", errors.item[0].pointer, errors.item[0].text);
        verdict = calc_run(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, &s);
        ck_assert_int_eq(verdict, s.verdict);
        double sum_s = s.fw_time + s.bw_time + s.recompute_time + s.recomm_exposed_time +
                       s.tp_comm_exposed_time + s.cp_comm_exposed_time + s.ep_comm_exposed_time +
                       s.pp_comm_exposed_time + s.dp_comm_exposed_time + s.fw_offload_exposed_time +
                       s.bw_offload_exposed_time + s.head_time + s.host_time + s.bubble_time +
                       s.optim_step_time + s.straggler_time + s.overhead_time;
        if (isfinite(s.total_time) && c->exec.inference.phase == CALC_INFERENCE_PHASE_NONE) {
            assert_near(sum_s, s.total_time);
        }
        model_ran = true;
    }
    if (strcmp(name, "verdict") == 0) {
        return (double)verdict;
    }
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].key, name) == 0) {
            return *(const double *)(const void *)((const char *)&s + table->rows[i].offset);
        }
    }
    formula_fail("no number is called stats.%s", name);
    return 0;
}

static bool model_value(const char *name, double *out)
{
    if (strncmp(name, "stats.", 6) == 0) {
        *out = model_of_stats(name + 6);
        return true;
    }
    static const formula_name constants[] = {
        /* sizes of modern_case.h: tokens, width, feed-forward, heads, their width, key heads; */
        {"T", 32},
        {"H", 64},
        {"F", 256},
        {"A", 4},
        {"D", 16},
        {"G", 2},
        {"W", 512},
        /* latent attention; experts, those of a token, their width and that of shared ones; */
        {"RQ", 32},
        {"RK", 16},
        {"NOPE", 16},
        {"ROPE", 8},
        {"V", 16},
        {"E", 8},
        {"K", 2},
        {"FE", 32},
        {"FS", 64},
        /* stage_case.h */
        {"block_weights", block_weights},
        {"block_bytes", block_bytes},
        {"block_passing", block_passing},
        {"fast", fast},
        {"slow", slow},
        {"memory", memory},
        {"far_memory", far_memory},
        {"MiB", 0x1p20},
        {"p2p", CALC_OP_P2P},
        {"all_gather", CALC_OP_ALL_GATHER},
        {"none", CALC_OP_NONE},
        {"reduce_scatter", CALC_OP_REDUCE_SCATTER},
        {"all_to_all", CALC_OP_ALL_TO_ALL},
        {"expert_group", CALC_IN_EXPERT},
        {"expert_tensor_group", CALC_IN_EXPERT_TENSOR},
        {"vector_kind", CALC_OPERATOR_VECTOR},
        {"permute_kind", CALC_OPERATOR_PERMUTE},
        {"recompute_all", CALC_RECOMPUTE_ALL},
        {"fits", CALC_VERDICT_OK},
        {"mem1_capacity", CALC_VERDICT_MEM1_CAPACITY},
        {"mem2_capacity", CALC_VERDICT_MEM2_CAPACITY},
        {"network_size", CALC_VERDICT_NETWORK_SIZE},
        {"network_fill", CALC_VERDICT_NETWORK_FILL},
        {"interleaving", CALC_VERDICT_INTERLEAVING},
        {"offload_blocks", CALC_VERDICT_OFFLOAD_BLOCKS}};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (strcmp(constants[i].name, name) == 0) {
            *out = constants[i].value;
            return true;
        }
    }
    model_refresh();
    const modern_case *c = &model.c;
    calc_parameters counted;
    calc_count_parameters(&c->app, &counted);
    const calc_offload moved =
        calc_offload_of(&c->exec.strategy, c->operators, c->count, model_recompute());
    const formula_name numbers[] = {
        {"count", (double)c->count}, /* of operators of the list */
        {"routed_tokens", calc_transformer_routed_tokens(&c->shape)},
        {"stream_bytes", calc_stage_message_bytes(&c->shape)},
        {"counted.total", counted.total},
        {"counted.active", counted.active},
        {"counted.attention", counted.attention},
        {"counted.mlp", counted.mlp},
        {"counted.experts", counted.experts},
        {"counted.norm", counted.norm},
        {"counted.embedding", counted.embedding},
        {"counted.mtp", counted.mtp},
        {"moved.away_bytes", moved.away_bytes},
        {"moved.copied_bytes", moved.copied_bytes},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(numbers[i].name, name) == 0) {
            *out = numbers[i].value;
            return true;
        }
    }
    return model_of_part(name, out) || FIND(case_members, name, &model, out) ||
           (model_operator[0] && model_of_operator(name, out)) || model_of_stage(name, out);
}

const formula_language formulas = {.app = &model.c.app,
                                   .system = &model.c.system,
                                   .exec = &model.c.exec,
                                   .says = model_says,
                                   .choose = model_choose,
                                   .value = model_value};

#endif
