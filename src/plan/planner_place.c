#include "plan/planner_place.h"

#include <math.h>

#include "balance/relaxed.h"
#include "spec/stage_list.h"

/* ---- Places ---------------------------------------------------------------------------------- */

/* A walk over places: the kinds so far, and the stages that are left. */
typedef struct walk {
    const calc_planner *planner;
    int64_t procs; /* of a stage */
    calc_planner_visit *visit;
    void *context;
    calc_planner_place place;
} walk;

static bool place_rest(walk *w, int64_t stages)
{
    calc_planner_place *p = &w->place;
    if (stages == 0) {
        return w->visit(w->context, p);
    }
    int first = w->planner->keep_order && p->kinds > 0 ? p->chip[p->kinds - 1] + 1 : 0;
    for (int chip = first; chip < w->planner->chips; chip++) {
        int64_t most = w->planner->chip[chip].most_procs / w->procs;
        most = most < stages ? most : stages;
        for (int i = 0; i < p->kinds; i++) {
            most = p->chip[i] == chip ? 0 : most; /* it is used */
        }
        int at = p->kinds++;
        p->chip[at] = chip;
        for (int64_t n = 1; n <= most; n++) {
            p->stages[at] = (int32_t)n;
            if (!place_rest(w, stages - n)) {
                return false;
            }
        }
        p->kinds--;
    }
    return true;
}

bool calc_planner_places(const calc_planner *planner, const calc_exec *exec,
                         calc_planner_visit *visit, void *context)
{
    walk w = {.planner = planner,
              .procs = exec->num_procs / exec->pipeline_par,
              .visit = visit,
              .context = context};
    return place_rest(&w, exec->pipeline_par);
}

/* ---- Layouts --------------------------------------------------------------------------------- */

bool calc_planner_layouts_of(const calc_planner *planner, const calc_exec *exec,
                             calc_planner_layouts *l)
{
    const calc_stage_run full = {
        1, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, CALC_ACTIVATION_RECOMPUTE_FULL, 0, 0};
    const bool part = calc_planner_keeps_part(exec);
    const calc_stage_run none = {
        1, CALC_STAGE_AS_EXEC, part ? CALC_STAGE_AS_EXEC : 0, CALC_STAGE_AS_EXEC, 0, 0};
    bool any = false;
    calc_errors ignored = {0};
    l->none = calc_stage_list_exec(exec, &none);
    l->full = calc_stage_list_exec(exec, &full);
    l->full.recompute_blocks = 0;
    l->recompute = planner->recompute && !part;
    for (int i = 0; i < planner->chips; i++) {
        const calc_system *system = &planner->chip[i].system;
        l->legal[i] = calc_check(planner->app, system, &l->none, &ignored) == CALC_OK;
        any = any || l->legal[i];
        if (!l->legal[i]) {
            continue;
        }
        l->recompute =
            l->recompute && calc_check(planner->app, system, &l->full, &ignored) == CALC_OK;
        calc_layout_of(planner->app, system, &l->none, CALC_COMPAT_NONE, NULL, NULL,
                       &l->of_none[i]);
        calc_layout_of(planner->app, system, &l->full, CALC_COMPAT_NONE, NULL, NULL,
                       &l->of_full[i]);
    }
    for (int i = 0; i < planner->chips; i++) {
        const calc_layout *kept = &l->of_none[i];
        l->chip[i] = l->recompute ? (calc_balance_chip){&l->of_full[i], NULL, kept}
                     : part       ? (calc_balance_chip){kept, kept, kept}
                                  : (calc_balance_chip){kept, NULL, NULL};
    }
    return any;
}

const char *calc_planner_problem(const calc_planner *planner, const calc_planner_layouts *l,
                                 const calc_planner_place *place,
                                 calc_balance_chip chip[CALC_MAX_CHIPS], calc_balance_problem *out)
{
    int of_stage[CALC_BALANCE_STAGES];
    int stage = 0;
    for (int i = 0; i < place->kinds; i++) {
        chip[i] = l->chip[place->chip[i]];
        if (!l->legal[place->chip[i]]) {
            return "that one of the chips cannot run";
        }
        for (int n = 0; n < place->stages[i] && stage < CALC_BALANCE_STAGES; n++) {
            of_stage[stage++] = i;
        }
    }
    const char *why = calc_balance_of_layouts(chip, place->kinds, of_stage, out);
    if (why) {
        return why;
    }
    out->may_select = false;
    out->alike_on_chip = planner->alike_on_chip;
    out->spread = true;
    out->ends_alone = planner->ends_alone && planner->app->vocab_size > 0;
    int stages = (int)out->shape.stages;
    for (int at = 0; at < stages * out->shape.chunks; at++) {
        int here = of_stage[calc_balance_stage_of(&out->shape, at)];
        int last = (int)(stages * out->shape.chunks) - 1;
        int next = at < last ? of_stage[calc_balance_stage_of(&out->shape, at + 1)] : here;
        int before = at > 0 ? of_stage[calc_balance_stage_of(&out->shape, at - 1)] : here;
        double join_s = planner->join_latency_s * chip[here].full->exposed;
        out->place[at].fw_s += next != here ? join_s : 0;
        out->place[at].agrad_s += before != here ? join_s : 0;
    }
    return NULL;
}

/* ---- Divisions ------------------------------------------------------------------------------- */

/* The execution of a division, with its list of stages. */
static calc_exec planner_exec_of(const calc_planner *planner, const calc_planner_layouts *l,
                                 const calc_planner_place *place,
                                 const calc_balance_problem *problem,
                                 const calc_balance_share *share)
{
    calc_exec e = l->none;
    calc_stage_run run[CALC_MAX_PLACES];
    uint8_t number[CALC_MAX_CHIPS] = {0};
    int64_t places = problem->shape.stages * problem->shape.chunks;
    for (int i = 0; i < place->kinds && place->kinds > 1; i++) { /* one chip needs no name */
        const calc_planner_chip *chip = &planner->chip[place->chip[i]];
        number[i] = (uint8_t)calc_stage_list_chip(&e.stages, chip->name);
        e.stages.system[number[i] - 1] = &chip->system;
    }
    e.stages.join_latency_s = place->kinds > 1 ? planner->join_latency_s : 0;
    for (int64_t at = 0; at < places && at < CALC_MAX_PLACES; at++) {
        const calc_balance_share *s = &share[at];
        int again = s->full[0] + s->full[1];
        int stage = calc_balance_stage_of(&problem->shape, (int)at);
        run[at] = (calc_stage_run){
            .places = 1,
            .blocks = (int16_t)(s->layers[0] + s->layers[1]),
            .recompute_blocks = calc_planner_keeps_part(&e) ? CALC_STAGE_AS_EXEC : (int16_t)again,
            .recompute = again > 0 ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_STAGE_AS_EXEC,
            .chip = number[problem->stage[stage].chip],
        };
    }
    if (!calc_stage_list_pack(run, places, &e.stages)) {
        e.stages.count = 0; /* more runs than a list has */
    }
    return e;
}

/* ---- Balancing ------------------------------------------------------------------------------- */

enum { QUICK = 12 /* divisions of a first look */ };

/* Gain to expect from simulating more of them, as a share of the step. */
#define NEAR_LINE 1.005
#define NEAR_CHUNKS 1.03

/* Relative difference up to which a step planned and one run are the same. */
#define SAME 1e-6

/* The same for a proof, which is of the planned one: a head that gathers again is in every stage's.
 */
#define CLOSE 2e-4

/* Lower the limit of every stage by what it lacks, by more with every attempt. */
static void tighten(const calc_planner *planner, const calc_planner_found *f, int round,
                    calc_planner_bench *b)
{
    const calc_system *system = &planner->chip[f->chip].system;
    size_t stages = calc_each_stage(planner->app, system, &f->exec, CALC_COMPAT_NONE, b->stage,
                                    CALC_BALANCE_STAGES);
    for (size_t i = 0; i < stages && i < CALC_BALANCE_STAGES; i++) {
        double has_bytes = b->chip[b->problem.stage[i].chip].full->system->chip.mem1.capacity_bytes;
        double over_bytes = b->stage[i].mem_tier1 - has_bytes;
        if (over_bytes > 0) {
            b->problem.stage[i].limit_bytes -= over_bytes * (round + 1);
        }
    }
}

/* Evaluate the division with calc_run(). @return whether it is a legal layout */
static bool judge(const calc_planner *planner, const calc_planner_place *place,
                  calc_planner_bench *b, calc_planner_found *f)
{
    f->exec = planner_exec_of(planner, &b->layouts, place, &b->problem, b->solution.share);
    f->chip = place->chip[0];
    const calc_system *system = &planner->chip[f->chip].system;
    calc_errors ignored = {0};
    if (f->exec.stages.count == 0) {
        return false;
    }
    calc_resolve(planner->app, system, &f->exec);
    if (calc_check(planner->app, system, &f->exec, &ignored) != CALC_OK) {
        return false;
    }
    calc_run(planner->app, system, &f->exec, CALC_COMPAT_NONE, &f->stats);
    return true;
}

/* ---- The last search ------------------------------------------------------------------------- */

/* Layers of every place, and how many recompute if it has as many. */
typedef struct division {
    int layers[CALC_BALANCE_PLACES], again[CALC_BALANCE_PLACES];
} division;

/* Move a layer, or with from = to none; `more` layers recompute there, and on a chip whose stages
 * are alike. @return whether there is such a division */
static bool change(const calc_balance_problem *p, division *d, int from, int to, int more)
{
    int places = (int)(p->shape.stages * p->shape.chunks);
    int chip = p->stage[calc_balance_stage_of(&p->shape, to)].chip;
    d->layers[from]--;
    d->layers[to]++;
    for (int i = 0; i < places; i++) {
        bool here = p->stage[calc_balance_stage_of(&p->shape, i)].chip == chip;
        d->again[i] += i == to || (p->alike_on_chip && here) ? more : 0;
    }
    return d->layers[from] >= calc_balance_least_of(p, from) && d->again[to] >= 0 &&
           (more <= 0 || (p->may_full && d->again[to] <= d->layers[to]));
}

static void lay(const calc_balance_problem *p, const division *d, calc_balance_share *share)
{
    int dense = p->layers[0];
    for (int i = 0; i < p->shape.stages * p->shape.chunks; i++) {
        calc_balance_share *x = &share[i];
        int again = d->again[i] < d->layers[i] ? d->again[i] : d->layers[i];
        *x = (calc_balance_share){{0}, {0}, {0}};
        x->layers[0] = d->layers[i] < dense ? d->layers[i] : dense;
        x->layers[1] = d->layers[i] - x->layers[0];
        x->full[0] = again < x->layers[0] ? again : x->layers[0];
        x->full[1] = again - x->full[0];
        dense -= x->layers[0];
    }
}

/* Improve what was found by single moves: of a layer, or of one that recomputes. calc_run() judges.
 */
static void refine(const calc_planner *planner, const calc_balance_options *effort,
                   calc_planner_bench *b, calc_planner_found *f)
{
    const calc_balance_problem *p = &b->problem;
    int places = (int)(p->shape.stages * p->shape.chunks);
    calc_planner_found tried = *f;
    division best;
    for (int i = 0; i < places; i++) {
        const calc_balance_share *x = &b->solution.share[i];
        best.layers[i] = x->layers[0] + x->layers[1];
        best.again[i] = x->full[0] + x->full[1];
    }
    for (int i = 0; i < places && p->alike_on_chip; i++) { /* the number, where a stage has it */
        for (int k = 0; k < places; k++) {
            bool here = p->stage[calc_balance_stage_of(&p->shape, i)].chip ==
                        p->stage[calc_balance_stage_of(&p->shape, k)].chip;
            best.again[i] = here && best.again[k] > best.again[i] ? best.again[k] : best.again[i];
        }
    }
    int64_t runs = 0;
    int all = 3 * places * places;
    for (int i = 0, idle = 0; idle < all && runs < effort->evaluations; i = (i + 1) % all, idle++) {
        division d = best;
        if (!change(p, &d, i / 3 / places, i / 3 % places, i % 3 - 1)) {
            continue;
        }
        if (effort->stop && effort->stop(effort->context)) {
            return;
        }
        lay(p, &d, b->solution.share);
        runs++;
        if (judge(planner, &f->place, b, &tried) && tried.stats.verdict == CALC_VERDICT_OK &&
            tried.stats.total_time < f->stats.total_time) {
            *f = tried;
            best = d;
            idle = 0;
        }
    }
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* A short search comes first: only divisions that are nearly quick enough are improved.
 */
static calc_planner_outcome solve(const calc_balance_options *effort, double limit_s,
                                  calc_planner_bench *b, calc_planner_found *f)
{
    bool line = b->problem.shape.chunks == 1;
    const calc_balance_solution *s = &b->solution;
    double none_s = calc_balance_least_total_s(b->chip, &b->problem, 0);
    for (int look = 0; look < 2; look++) {
        calc_balance_options options = *effort;
        options.below_s =
            (limit_s - none_s) / (calc_balance_least_total_s(b->chip, &b->problem, 1) - none_s);
        options.evaluations = look == 0 ? QUICK : effort->evaluations;
        options.within = look == 0 || f->rounds > 0 ? 0 : effort->within;
        calc_balance_solve(&b->problem, &options, &b->solution);
        if (f->rounds == 0) { /* bounds under tightened limits do not hold in general */
            f->bound_s =
                fmax(f->bound_s, calc_balance_least_total_s(b->chip, &b->problem, s->bound_s));
        }
        if (!s->feasible) {
            return s->beyond && s->bound_s < INFINITY ? CALC_PLANNER_SLOWER : CALC_PLANNER_NO_ROOM;
        }
        f->proven = s->proven && f->rounds == 0;
        f->planned_s =
            calc_balance_step_of(b->chip, &b->problem, s->share, s->answer.step_s).total_s;
        if (f->bound_s >= limit_s || f->planned_s >= limit_s * (look > 0 ? 1
                                                                : line   ? NEAR_LINE
                                                                         : NEAR_CHUNKS)) {
            return CALC_PLANNER_SLOWER;
        }
    }
    return CALC_PLANNER_FOUND;
}

calc_planner_outcome calc_planner_balance(const calc_planner *planner, const calc_exec *exec,
                                          const calc_planner_place *place, double limit_s,
                                          const calc_balance_options *effort, calc_planner_bench *b,
                                          calc_planner_found *f)
{
    if (!calc_planner_layouts_of(planner, exec, &b->layouts) ||
        calc_planner_problem(planner, &b->layouts, place, b->chip, &b->problem)) {
        return CALC_PLANNER_UNBALANCED;
    }
    b->problem.chip = b->chip;
    b->problem.least_end_s = calc_balance_least_end_s(b->chip, &b->problem);
    f->base = *exec;
    f->place = *place;
    f->bound_s =
        calc_balance_least_total_s(b->chip, &b->problem, calc_balance_quick_s(&b->problem));
    if (f->bound_s >= limit_s && f->bound_s < INFINITY) {
        return CALC_PLANNER_SLOWER;
    }
    for (f->rounds = 0; f->rounds <= CALC_PLANNER_ROUNDS; f->rounds++) {
        if (f->rounds > 0 && effort->stop && effort->stop(effort->context)) {
            return CALC_PLANNER_UNBALANCED;
        }
        calc_planner_outcome outcome = solve(effort, limit_s, b, f);
        if (outcome != CALC_PLANNER_FOUND) {
            return outcome;
        }
        if (!judge(planner, place, b, f)) {
            return CALC_PLANNER_UNBALANCED;
        }
        if (f->stats.verdict == CALC_VERDICT_OK) {
            double differs_s = fabs(f->planned_s - f->stats.total_time);
            bool line = b->problem.shape.chunks == 1;
            f->proven = f->proven && differs_s <= CLOSE * f->planned_s;
            if (differs_s > SAME * f->planned_s || (!f->proven && line && limit_s == INFINITY)) {
                refine(planner, effort, b, f);
            }
            /* Other divisions may be quicker than planned, too. */
            f->bound_s = fmin(f->bound_s, f->stats.total_time) -
                         (f->planned_s > f->stats.total_time ? differs_s : 0);
            return f->stats.total_time < limit_s ? CALC_PLANNER_FOUND : CALC_PLANNER_SLOWER;
        }
        if (f->stats.verdict != CALC_VERDICT_MEM1_CAPACITY) {
            return CALC_PLANNER_UNBALANCED;
        }
        tighten(planner, f, f->rounds, b);
    }
    return CALC_PLANNER_NO_ROOM;
}

bool calc_planner_even(const calc_planner *planner, const calc_exec *exec, int chip,
                       calc_exec *best, calc_stats *stats)
{
    const calc_system *system = &planner->chip[chip].system;
    const bool part = calc_planner_keeps_part(exec);
    bool any = false;
    for (int which = planner->recompute ? 0 : 2; which < (part ? 6 : 4); which++) {
        bool full = which < 2;
        calc_exec e = *exec;
        calc_stats s;
        calc_errors ignored = {0};
        e.stages = (calc_stage_list){0};
        e.first_stage_blocks = e.last_stage_blocks = e.recompute_blocks = 0;
        e.pipeline_balance = which % 2 ? CALC_PIPELINE_BALANCE_ENDS : CALC_PIPELINE_BALANCE_BLOCKS;
        if (which < 4) {
            e.strategy.activation_recompute =
                full ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_ACTIVATION_RECOMPUTE_NONE;
            e.strategy.recompute_modules = 0;
        }
        e.strategy.seq_par_ag_redo = e.strategy.seq_par_ag_redo && !full;
        if (calc_check(planner->app, system, &e, &ignored) == CALC_OK &&
            calc_run(planner->app, system, &e, CALC_COMPAT_NONE, &s) == CALC_VERDICT_OK &&
            (!any || s.total_time < stats->total_time)) {
            any = true;
            *best = e;
            *stats = s;
        }
    }
    return any;
}
