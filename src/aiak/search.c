#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aiak/pipeline.h"
#include "balance/relaxed.h"
#include "base/buffer.h"
#include "base/make.h"

enum {
    ROOM = 20000,      /* most candidates sorted at a time */
    EVALUATIONS = 200, /* per candidate; more evaluations change only the proof */
    WORK_OF_CANDIDATE = 300,
    MOST_WORK = 30000000 /* limit on numbers of stages and candidates, reached with five chips
                          * without a limit */
};

/* A balance problem to solve: sizes, and the chips of the stages. */
typedef struct candidate {
    double least_s;
    const calc_aiak_bound *bound;
    calc_aiak_chain chain;
} candidate;

typedef struct search {
    const calc_aiak_task *task;
    int top;
    calc_aiak_strategy *best;
    calc_aiak_found *found;
    const calc_aiak_sizes *sizes; /* the sizes of these layouts */
    calc_aiak_layouts layouts;
    calc_balance_problem problem;
    calc_balance_solution solution;
    calc_aiak_strategy now;
    int64_t work;
    candidate *candidate; /* [ROOM] */
    size_t count;
} search;

/* ---- The best -------------------------------------------------------------------------------- */

static int compare_sizes(const calc_aiak_sizes *a, const calc_aiak_sizes *b)
{
    int differ = a->stages - b->stages;
    differ = differ ? differ : a->tensor_par - b->tensor_par;
    return differ ? differ : a->microbatch - b->microbatch;
}

static double most_bytes(const calc_aiak_strategy *s)
{
    double most = 0;
    for (int i = 0; i < s->chain.kinds; i++) {
        most = calc_max(most, s->most_bytes[i]);
    }
    return most;
}

/* Negative if a comes before b. */
static int compare_strategies(const calc_aiak_strategy *a, const calc_aiak_strategy *b)
{
    int differ = CALC_ORDER(b->tokens_per_s, a->tokens_per_s);
    differ = differ ? differ : compare_sizes(&a->sizes, &b->sizes);
    return differ ? differ : CALC_ORDER(most_bytes(a), most_bytes(b));
}

/* Index of the same sizes on the same chips among the best; the number of the best if they are not
 * there. */
static int place_of(const search *s, const calc_aiak_sizes *sizes, const calc_aiak_chain *chain)
{
    int at = 0;
    while (at < s->found->count &&
           !(compare_sizes(&s->best[at].sizes, sizes) == 0 &&
             s->best[at].chain.kinds == chain->kinds &&
             memcmp(s->best[at].chain.chip, chain->chip, sizeof chain->chip) == 0 &&
             memcmp(s->best[at].chain.stages, chain->stages, sizeof chain->stages) == 0)) {
        at++;
    }
    return at;
}

/* Keeps the best of the strategies that differ only in recomputation. */
static void keep(search *s)
{
    int *count = &s->found->count;
    int old = place_of(s, &s->now.sizes, &s->now.chain), at = 0;
    while (at < *count && compare_strategies(&s->best[at], &s->now) <= 0) {
        at++;
    }
    if (at > old || at == s->top) {
        return;
    }
    int freed = old < *count ? old : *count < s->top ? (*count)++ : s->top - 1;
    memmove(&s->best[at + 1], &s->best[at], (size_t)(freed - at) * sizeof *s->best);
    s->best[at] = s->now;
}

/* Whether a strategy with this lower bound can be among the best. */
static bool promising(const search *s, double least_s)
{
    return s->found->count < s->top || least_s <= s->best[s->top - 1].step.total_s;
}

/* As above, for a chain that may already be among the best. */
static bool improving(const search *s, double least_s, const calc_aiak_sizes *sizes,
                      const calc_aiak_chain *chain)
{
    int old = place_of(s, sizes, chain);
    return promising(s, least_s) &&
           (old == s->found->count || least_s <= s->best[old].step.total_s);
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static void use_layouts(search *s, const calc_aiak_sizes *sizes)
{
    if (s->sizes != sizes) {
        calc_aiak_layouts_of(s->task, sizes, &s->layouts);
        s->sizes = sizes;
    }
}

static void set_strategy(search *s, const candidate *c)
{
    const calc_aiak_task *task = s->task;
    calc_aiak_strategy *now = &s->now;
    calc_balance_chip chip[CALC_AIAK_CHIPS];
    memset(now, 0, sizeof *now);
    now->sizes = c->bound->sizes;
    now->chain = c->chain;
    memset(now->all_again, 1, sizeof now->all_again);
    for (int i = 0; i < now->sizes.stages; i++) {
        const calc_balance_share *share = &s->solution.share[i];
        int kind = s->problem.stage[i].chip, again = share->full[0] + share->full[1];
        now->share[i] = *share;
        now->layers[i] = share->layers[0] + share->layers[1];
        now->again[kind] = again > now->again[kind] ? again : now->again[kind];
        now->all_again[kind] = now->all_again[kind] && again == now->layers[i];
        now->most_bytes[kind] = calc_max(now->most_bytes[kind], s->solution.answer.peak_bytes[i]);
    }
    calc_aiak_chips_of(&s->layouts, &c->chain, chip);
    now->step =
        calc_balance_step_of(chip, &s->problem, s->solution.share, s->solution.answer.step_s);
    now->tokens_per_s = (double)task->batch * (double)task->sequence / now->step.total_s;
}

static void balance(search *s, const candidate *c)
{
    static const calc_balance_options options = {.evaluations = EVALUATIONS};
    use_layouts(s, &c->bound->sizes);
    if (calc_aiak_problem(s->task, &s->layouts, &c->chain, &s->problem)) {
        return;
    }
    s->found->balanced++;
    if (calc_balance_solve(&s->problem, &options, &s->solution) == CALC_OK &&
        s->solution.feasible) {
        set_strategy(s, c);
        keep(s);
    }
}

static int compare_chains(const calc_aiak_chain *a, const calc_aiak_chain *b)
{
    int differ = a->kinds - b->kinds;
    for (int i = 0; i < a->kinds && differ == 0; i++) {
        differ = a->chip[i] - b->chip[i];
        differ = differ ? differ : a->stages[i] - b->stages[i];
        differ = differ ? differ : a->selective[i] - b->selective[i];
    }
    return differ;
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a;
    const candidate *y = b;
    int differ = CALC_ORDER(x->least_s, y->least_s);
    differ = differ ? differ : compare_sizes(&x->bound->sizes, &y->bound->sizes);
    return differ ? differ : compare_chains(&x->chain, &y->chain);
}

/* Balances the collected candidates, the lowest bounds first. */
static void balance_all(search *s)
{
    CALC_SORT(s->candidate, s->count, compare_candidates);
    for (size_t i = 0; i < s->count && promising(s, s->candidate[i].least_s); i++) {
        const candidate *c = &s->candidate[i];
        if (improving(s, c->least_s, &c->bound->sizes, &c->chain)) {
            balance(s, c);
        }
    }
    s->count = 0;
}

static void collect(search *s, const calc_aiak_bound *bound, const calc_aiak_chain *chain)
{
    s->found->candidates++;
    s->work += WORK_OF_CANDIDATE;
    use_layouts(s, &bound->sizes);
    if (calc_aiak_problem(s->task, &s->layouts, chain, &s->problem)) {
        return;
    }
    double growth = 0;
    for (int i = 0; i < chain->kinds; i++) {
        growth = calc_max(growth, s->layouts.of[chain->chip[i]][CALC_BALANCE_NONE].terms.growth);
    }
    /* Whatever the division; infinite if none fits. */
    double least_s = calc_balance_quick_s(&s->problem) * (1 + growth) + bound->after_s;
    if (isinf(least_s) || !improving(s, least_s, &bound->sizes, chain)) {
        return;
    }
    s->candidate[s->count++] = (candidate){least_s, bound, *chain};
    if (s->count == ROOM) {
        balance_all(s);
    }
}

/* ---- Chains ---------------------------------------------------------------------------------- */

/* Whether recomputing attention saves any memory. */
static bool saves(const search *s, int chip)
{
    const calc_stage_part *whole = &s->layouts.of[chip][CALC_BALANCE_NONE].terms.block[0];
    const calc_stage_part *some = &s->layouts.of[chip][CALC_BALANCE_SELECTIVE].terms.block[0];
    return some->kept_bytes < whole->whole_bytes * (1 - 1e-9);
}

/* Tries all subsets of the chain's chips that recompute attention only. */
static void select_some(search *s, const calc_aiak_bound *bound, calc_aiak_chain *chain)
{
    for (int set = 0; set < 1 << chain->kinds; set++) {
        bool legal = true;
        use_layouts(s, &bound->sizes);
        for (int i = 0; i < chain->kinds; i++) {
            chain->selective[i] = set >> i & 1;
            legal = legal && (!chain->selective[i] || saves(s, chain->chip[i]));
        }
        if (legal) {
            collect(s, bound, chain);
        }
    }
    memset(chain->selective, 0, sizeof chain->selective);
}

/* Tries all orders of the chips that have stages, starting with the order of the task. */
static void order(search *s, const calc_aiak_bound *bound, const int stages[CALC_AIAK_CHIPS],
                  calc_aiak_chain *chain)
{
    bool complete = true;
    for (int i = 0; i < s->task->chips; i++) {
        bool there = stages[i] == 0;
        for (int k = 0; k < chain->kinds; k++) {
            there = there || chain->chip[k] == i;
        }
        if (!there) {
            complete = false;
            chain->chip[chain->kinds] = i;
            chain->stages[chain->kinds++] = stages[i];
            order(s, bound, stages, chain);
            chain->kinds--;
            chain->chip[chain->kinds] = chain->stages[chain->kinds] = 0;
        }
    }
    bool even = chain->kinds > 1 || s->task->app->num_blocks % bound->sizes.stages == 0;
    if (complete && even) {
        select_some(s, bound, chain);
    }
}

/* ---- Numbers of stages ----------------------------------------------------------------------- */

/* Distributes stages over a chip and those after it; `stages` has the chips before it. */
static void share_out(search *s, const calc_aiak_bound *bound, int stages[CALC_AIAK_CHIPS],
                      int chip, int left)
{
    int step, most = calc_aiak_most_stages(s->task, &bound->sizes, chip, &step);
    bool last = chip == s->task->chips - 1;
    for (int n = most < left ? most : left; n >= (last ? left : 0); n--) {
        stages[chip] = n;
        s->found->cut = ++s->work > MOST_WORK;
        if (s->found->cut) {
            break;
        }
        if (n % step != 0 && n != bound->sizes.stages) {
            continue;
        }
        if (!last) {
            share_out(s, bound, stages, chip + 1, left - n);
        } else if (promising(s, calc_aiak_least_s(s->task, bound, stages))) {
            calc_aiak_chain chain;
            memset(&chain, 0, sizeof chain);
            order(s, bound, stages, &chain);
        }
    }
    stages[chip] = 0;
}

/* Tries the fastest chips first: their result prunes most other candidates. */
static void try_fastest(search *s, const calc_aiak_bound *bound)
{
    int stages[CALC_AIAK_CHIPS], step;
    calc_aiak_chain chain;
    memset(&chain, 0, sizeof chain);
    bool legal = calc_aiak_fastest(s->task, bound, stages);
    for (int i = 0; i < s->task->chips && legal; i++) {
        calc_aiak_most_stages(s->task, &bound->sizes, i, &step);
        legal = stages[i] % step == 0 || stages[i] == bound->sizes.stages;
    }
    if (legal) {
        order(s, bound, stages, &chain);
    }
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static int compare_bounds(const void *a, const void *b)
{
    const calc_aiak_bound *x = a;
    const calc_aiak_bound *y = b;
    int differ = CALC_ORDER(x->least_s, y->least_s);
    return differ ? differ : compare_sizes(&x->sizes, &y->sizes);
}

static void run(search *s, calc_aiak_sizes *sizes, calc_aiak_bound *bound, size_t count)
{
    calc_aiak_sizes_list(s->task, sizes, count);
    for (size_t i = 0; i < count; i++) {
        calc_aiak_layouts_of(s->task, &sizes[i], &s->layouts);
        calc_aiak_bound_of(s->task, &sizes[i], &s->layouts, &bound[i]);
    }
    CALC_SORT(bound, count, compare_bounds);
    for (size_t i = 0; i < count; i++) {
        try_fastest(s, &bound[i]);
    }
    balance_all(s);
    for (size_t i = 0; i < count && promising(s, bound[i].least_s); i++) {
        int stages[CALC_AIAK_CHIPS] = {0};
        share_out(s, &bound[i], stages, 0, bound[i].sizes.stages);
    }
    balance_all(s);
}

void calc_aiak_search(const calc_aiak_task *task, int top, calc_aiak_strategy *best,
                      calc_aiak_found *found)
{
    size_t count = calc_aiak_sizes_list(task, NULL, 0);
    search *s = calc_make(1, sizeof *s);
    calc_aiak_sizes *sizes = calc_make(count, sizeof *sizes);
    calc_aiak_bound *bound = calc_make(count, sizeof *bound);
    *found = (calc_aiak_found){.sizes = (int64_t)count};
    s->task = task;
    s->top = top;
    s->best = best;
    s->found = found;
    s->candidate = calc_make(ROOM, sizeof *s->candidate);
    run(s, sizes, bound, count);
    free(bound);
    free(sizes);
    free(s->candidate);
    free(s);
}
