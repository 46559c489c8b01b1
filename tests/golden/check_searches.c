/* Searches on random questions: a line `WHAT COUNT` is answered with how many had which outcome,
 * how much the searches looked at, and a number made of all that they found. A bound that says
 * less, or another choice among equals, is another number, also where no answer is another. */
#include "aiak/pipeline.h"
#include "frame.h"
#include "gauss/process.h"
#include "layerwise/core.h"
#include "property/balance_case.h"
#include "unit/galvatron_search_case.h"
#include "unit/layerwise_case.h"
#include "unit/shipped_case.h"
#include "unit/tune_case.h"

enum { OUTCOMES = 4 };

static calc_rng rng;
static uint64_t digest;
static int64_t looked, ended[OUTCOMES];

static int below(int count)
{
    return (int)calc_rng_below(&rng, (uint32_t)count);
}

/* Every second time 0. */
static double maybe(double most)
{
    return below(2) ? 0 : most * calc_rng_real(&rng);
}

/* To so many digits: the last ones are the C library's. */
static void say(double value, int digits)
{
    char text[32];
    snprintf(text, sizeof text, "%.*g", digits, value + 0.0);
    for (size_t i = 0; i <= strlen(text); i++) {
        digest = (digest ^ (unsigned char)text[i]) * 1099511628211U;
    }
}

static void say_ints(const int *value, int count)
{
    for (int i = 0; i < count; i++) {
        say(value[i], 9);
    }
}

/* ---- Stages that differ ---------------------------------------------------------------------- */

/* What layers, stages and ends may need beside the usual. */
static void pose_more(void)
{
    for (int i = 0; i < problem.chips * CALC_BALANCE_KINDS; i++) {
        calc_balance_layer *l = &problem.layer[i / CALC_BALANCE_KINDS][i % CALC_BALANCE_KINDS];
        l->whole_bytes = maybe(2);
        l->again_fw_s = maybe(0.25);
    }
    for (int s = 0; s < problem.shape.stages; s++) {
        calc_balance_stage *at = &problem.stage[s];
        at->whole_bytes = maybe(2);
        for (int k = 0; k <= CALC_BALANCE_KINDS; k++) {
            at->less_bytes[k][0] = maybe(at->fixed_bytes / 2);
            at->less_bytes[k][1] = maybe(at->fixed_bytes / 2);
        }
    }
    calc_balance_place *end = &problem.place[problem.shape.stages * problem.shape.chunks - 1];
    end->again_s = below(2) ? maybe(end->fw_s) : -maybe(end->fw_s);
    end->again_bytes = below(2) ? maybe(0.5) : -maybe(0.25);
}

static void ask_balance(int n)
{
    static const double below_s[] = {0, 0, 0, 40, 120};
    balance_pose(7000 + (uint64_t)n, 6, 1 + n % 3, 16, 24);
    calc_balance_options options = {.gap = below(3) ? 0 : 0.05,
                                    .evaluations = 1 + below(below(4) ? 60 : 2000),
                                    .below_s = below_s[below(5)]};
    problem.less_memory = below(3) == 0;
    problem.alike_on_chip = below(3) == 0;
    problem.spread = below(4) == 0;
    problem.ends_alone = below(5) == 0;
    if (below(2)) {
        pose_more();
    }
    if (below(8) == 0) {
        problem.shape.kind = (calc_pipeline_schedule)below(CALC_PIPELINE_SCHEDULE_COUNT);
    }
    calc_status status = calc_balance_solve(&problem, &options, &solution);
    const calc_balance_solution *s = &solution;
    looked += s->evaluations;
    ended[status != CALC_OK ? 3 : !s->feasible ? 2 : !s->proven]++;
    say(status, 9);
    say(s->beyond, 9);
    say(s->bound_s, 6);
    if (status == CALC_OK && s->feasible) {
        say(s->score_s, 6);
        say(s->answer.most_bytes, 6);
        say_ints(&s->share[0].layers[0], (int)(problem.shape.stages * problem.shape.chunks) *
                                             (int)(sizeof *s->share / sizeof(int)));
    } else if (status == CALC_OK) {
        say(s->stage, 9);
        say(s->needs_bytes, 6);
    }
}

/* ---- Layers that differ ---------------------------------------------------------------------- */

static void say_points(const calc_layerwise_point *p, size_t count)
{
    for (size_t i = 0; i < count; i++, p++) {
        say(p->micro_s, 9);
        say(p->sync_s, 9);
        say(p->bytes, 9);
        for (int k = 0; k < CALC_LAYERWISE_KINDS; k++) {
            for (int pick = 0; pick < p->picks[k]; pick++) {
                say(p->pick[k][pick].option, 9);
                say(p->pick[k][pick].layers, 9);
            }
        }
    }
}

static void say_front(calc_layerwise_front *f)
{
    say(f->proven, 9);
    say_points(f->point, f->count);
    free(f->point);
}

static void lower(calc_layerwise_search *search, const calc_layerwise_answer *a)
{
    search->limit = search->all ? search->limit : search->alpha * a->x + search->beta * a->y;
    say(a->bytes, 9);
}

static double slower(const void *data, double micro_s, double sync_s)
{
    const double *weight = data;
    return weight[0] * micro_s + weight[1] * sync_s * sync_s;
}

static void ask_layers(int n)
{
    static layerwise_case c;
    static calc_layerwise_core core;
    calc_layerwise_front front;
    calc_layerwise_point best;
    (void)n;
    layerwise_draw(&c, &rng);
    for (int k = 0; k < c.stage.kinds; k++) { /* more than can be listed */
        c.stage.kind[k].layers += below(2) ? 0 : below(30);
    }
    c.stage.budget_bytes *= 1 + below(6);
    double weight[] = {1 + below(8), below(3)};
    calc_layerwise_core_make(&core, &c.stage, (calc_layerwise_values)below(4), weight[0],
                             weight[1]);
    calc_layerwise_search search = {.core = &core,
                                    .alpha = weight[0],
                                    .beta = weight[1],
                                    .limit = INFINITY,
                                    .all = below(4) == 0,
                                    .found = lower,
                                    .most_nodes = 2000};
    say(calc_layerwise_least(&search), 9);
    ended[!calc_layerwise_look(&search)]++;
    looked += search.nodes;
    say((double)search.nodes, 9);
    bool fits = calc_layerwise_best(&c.stage, weight[0], weight[1], &best);
    say_points(&best, fits);
    ended[2] += !fits;
    say(calc_layerwise_bound(&c.stage, weight[0], weight[1]), 9);
    calc_layerwise_aim aim = {slower, weight, maybe(400), 1000};
    bool proven, any = calc_layerwise_best_of(&c.stage, &aim, &best, &proven);
    say_points(&best, any);
    say(proven + 2 * any, 9);
    calc_layerwise_near(&c.stage, weight[0], weight[1], maybe(3), 20, &front);
    say((double)front.count, 9);
    free(front.point);
    calc_layerwise_front_of(&c.stage, 4 + (size_t)below(40), &front);
    say_front(&front);
    calc_layerwise_curve_of(&c.stage, weight[0], weight[1], 4 + (size_t)below(40), &front);
    say_front(&front);
}

/* ---- Other planners -------------------------------------------------------------------------- */

static void ask_aiak(int n)
{
    static const char *const models[] = {"llama2-7B", "gpt3-13B", "llama2-70B", "galactica-6.7B"};
    static const char *const chips[] = {"a800", "h800", "h100_sxm", "kunlun3", "ascend_910b"};
    static calc_app app;
    static calc_system systems[CALC_AIAK_CHIPS];
    static calc_aiak_strategy best[3];
    calc_aiak_found found;
    calc_aiak_task task = {.app = &app,
                           .chips = n % 8 == 0 ? 3 : 1 + n % 2,
                           .gpus = below(4) ? 8 << below(3) : 1 + below(40),
                           .batch = 16 << below(4),
                           .sequence = 1024 << below(3)};
    load_shipped(CALC_KIND_APP, &app, "models", models[below(4)]);
    for (int i = 0, at = below(5); i < task.chips; i++, at = (at + 1) % 5) {
        load_shipped(CALC_KIND_SYSTEM, &systems[i], "systems", chips[at]);
        task.system[i] = &systems[i];
        task.most[i] = below(2) ? CALC_AIAK_UNLIMITED : 4 + below((int)task.gpus);
    }
    calc_aiak_search(&task, 3, best, &found);
    ended[found.sizes == 0 ? 3 : found.candidates == 0 ? 2 : found.count == 0]++;
    looked += found.balanced;
    say((double)found.sizes, 9);
    say((double)found.candidates, 9);
    say((double)found.balanced, 9);
    for (int i = 0; i < found.count; i++) {
        say(best[i].tokens_per_s, 6);
        say(best[i].step.total_s, 6);
        say(best[i].most_bytes[0], 6);
        say((double)best[i].sizes.data_par, 9);
        say_ints(&best[i].sizes.stages, 3);
        say_ints(best[i].chain.chip, 2 * CALC_AIAK_CHIPS);
        say_ints(best[i].layers, best[i].sizes.stages);
        say_ints(best[i].again, CALC_AIAK_CHIPS);
    }
}

static void say_answer(const galvatron_case *c, const calc_galvatron_answer *a)
{
    static char text[4096];
    if (!a->feasible) {
        return;
    }
    galvatron_runs(a, (int)calc_galvatron_layer_count(&c->request), text, sizeof text);
    for (const char *at = text; *at; at++) {
        say(*at, 9);
    }
    galvatron_words(&a->ends, text, sizeof text);
    say(text[2], 9);
    say((double)a->task.gbsz, 9);
    say((double)a->task.chunks, 9);
    say(a->step_s, 6);
    say(a->reshard_s, 6);
    for (int i = 0; i < a->task.pp; i++) {
        say(a->division[i], 9);
        say(a->used_mb[i], 6);
        say(a->remain_mb[i], 6);
    }
}

static void ask_galvatron(int n)
{
    static galvatron_case c;
    static calc_galvatron_found found;
    char why[256];
    galvatron_search_open(&c, galvatron_cases[n % GALVATRON_CASES]);
    calc_galvatron_request *r = &c.request;
    bool *flags[] = {&r->disable_dp,   &r->disable_tp,        &r->disable_cp,
                     &r->disable_sp,   &r->disable_pp,        &r->disable_ckpt,
                     &r->disable_fsdp, &r->fine_grained,      &r->disable_embedding_lmhead_tp,
                     &r->compat,       &r->async_grad_reduce, &r->global_memory_buffer};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        *flags[i] ^= below(6) == 0;
    }
    r->compat = below(3) == 0;
    r->memory_constraint *= 0.5 + calc_rng_real(&rng);
    r->settle_bsz = below(4) ? r->settle_bsz : 8 << below(4);
    r->settle_chunk = below(4) ? r->settle_chunk : 1 << below(4);
    r->max_pp_deg = below(3) ? r->max_pp_deg : 1 << below(4);
    r->pipeline_type = (calc_galvatron_schedule)below(2);
    r->default_dp_type = (calc_galvatron_dp)below(2);
    bool legal = calc_galvatron_request_check(r, why, sizeof why);
    if (legal) {
        ck_assert_int_eq(calc_galvatron_search(r, &c.profiles, &found), CALC_OK);
        looked += found.solved;
        say(found.tasks, 9);
        say(found.solved, 9);
        say(found.gap, 6);
        say(found.limit_mb, 6);
        say(found.unlimited_s, 6);
        say(found.least_mb, 6);
        say_answer(&c, &found.best);
        say_answer(&c, &found.second);
    }
    ended[!legal ? 3 : !found.best.feasible ? 2 : !found.proven]++;
    galvatron_close(&c);
}

/* ---- Measurements ---------------------------------------------------------------------------- */

static calc_tune_candidate random_candidate(void)
{
    calc_tune_candidate c = {.step_s = exp(0.4 * calc_rng_real(&rng)),
                             .memory_bytes = 20e9 + 70e9 * calc_rng_real(&rng),
                             .capacity_bytes = 80e9,
                             .fits = below(4) ? (double)NAN : calc_rng_real(&rng)};
    for (int i = 0; i < CALC_TUNE_TERMS; i++) {
        c.term[i] = maybe(0.3);
    }
    for (int i = 0; i < CALC_TUNE_SPACES; i++) {
        c.space[i] = maybe(0.5);
    }
    for (int i = 0; i < CALC_TUNE_COORDINATES; i++) {
        c.coordinate[i] = below(4);
    }
    return c;
}

static void say_decision(const calc_tune_decision *d, size_t count, size_t measurements)
{
    for (size_t i = 0; i < count; i++) {
        say(d->outlook[i].p5_s, 6);
        say(d->outlook[i].p95_s, 6);
        say(d->outlook[i].memory_p50_bytes, 6);
        say(d->outlook[i].best, 4);
        say(d->outlook[i].fits, 4);
        say(d->outlook[i].gain, 4);
    }
    for (size_t i = 0; i < d->picks; i++) {
        say((double)d->pick[i], 9);
    }
    for (size_t i = 0; i < measurements; i++) {
        say(d->surprise[i], 5);
    }
    say(d->chance, 4);
    say(d->stop, 9);
    say((double)d->contenders, 9);
}

static void ask_tune(int n)
{
    enum { MOST = 24, ROUNDS = 5 };
    static calc_tune_candidate candidate[MOST];
    calc_tune_measurement measured[ROUNDS * 3];
    double step_s[MOST], memory_bytes[MOST];
    size_t count = (size_t)(1 + below(MOST)), measurements = 0;
    for (size_t i = 0; i < count; i++) {
        candidate[i] = random_candidate();
    }
    calc_tune_prior prior = calc_tune_prior_default();
    prior.sizes = below(3) ? prior.sizes : 0;
    calc_tune_options options = calc_tune_options_default(&prior);
    options.draws = 60;
    options.picks = 1 + (size_t)below(3);
    options.probes = below(3) == 0;
    options.chooser = below(4) ? CALC_TUNE_CHOOSER_IMPROVEMENT : CALC_TUNE_CHOOSER_ORDER;
    options.worth = 0.01 + maybe(0.05);
    calc_errors errors = {0};
    ck_assert_int_eq(
        calc_tune_truth(&prior, candidate, count, (uint64_t)n, step_s, memory_bytes, &errors),
        CALC_OK);
    bool stop = false;
    for (int round = 0; round < ROUNDS && !stop; round++) {
        calc_tune_decision d = tune_decide(candidate, count, measured, measurements, &options);
        say_decision(&d, count, measurements);
        for (size_t i = 0; i < d.picks; i++) {
            measured[measurements] =
                calc_tune_truth_measure(candidate, d.pick[i], step_s[d.pick[i]],
                                        memory_bytes[d.pick[i]], options.noise, &rng);
            if (below(8) == 0) {
                measured[measurements].end = CALC_TUNE_END_FAILED;
            }
            measurements++;
        }
        stop = d.stop;
        calc_tune_decision_free(&d);
    }
    looked += (int64_t)measurements;
    ended[!stop]++;
}

static void ask_process(int n)
{
    static calc_process p;
    double at[CALC_PROCESS_DIMENSIONS], reach[32];
    size_t dimensions = 1 + (size_t)(n % 3);
    double prior_sd = maybe(1);
    calc_process_start(&p, dimensions, maybe(3), prior_sd);
    for (int i = below(14); i > 0; i--) {
        for (size_t j = 0; j < dimensions; j++) {
            at[j] = below(6);
        }
        double value = sin(at[0]) + (dimensions > 1 ? at[1] : 0) + 0.1 * calc_rng_real(&rng);
        ended[calc_process_add(&p, at, value, 1 + below(3)) != CALC_OK]++;
    }
    ck_assert_int_eq(calc_process_fit(&p), CALC_OK);
    say(p.log_likelihood, 5);
    for (int i = 0; i < 4; i++) {
        for (size_t j = 0; j < dimensions; j++) {
            at[j] = 7 * calc_rng_real(&rng);
        }
        say(calc_process_reach(&p, at, reach), 4);
        for (size_t k = 0; k < calc_process_known(&p); k++) {
            say(reach[k], 3);
        }
    }
    calc_process_free(&p);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static const struct {
    const char *what;
    void (*ask)(int n);
} questions[] = {{"balance", ask_balance},     {"layers", ask_layers}, {"aiak", ask_aiak},
                 {"galvatron", ask_galvatron}, {"tune", ask_tune},     {"process", ask_process}};

static void answer(const char *said, FILE *out)
{
    for (; *said; said += strcspn(said, "\n") + 1) {
        char what[16];
        int count;
        size_t i = 0;
        ck_assert_int_eq(sscanf(said, "%15s %d", what, &count), 2);
        while (strcmp(questions[i].what, what) != 0) {
            i++;
        }
        calc_rng_init(&rng, 2201, i);
        digest = 0;
        looked = 0;
        memset(ended, 0, sizeof ended);
        for (int n = 0; n < count; n++) {
            questions[i].ask(n);
        }
        for (int end = 0; end < OUTCOMES; end++) {
            fprintf(out, "%lld, ", (long long)ended[end]);
        }
        fprintf(out, "%lld, %016llx\n", (long long)looked, (unsigned long long)digest);
    }
}

const calc_test_frame calc_tests = {
    .timeout_s = 300, .cases = "golden/check_searches.txt", .answer = answer};
