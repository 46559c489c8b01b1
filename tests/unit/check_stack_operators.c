/* The room for operators of a block: no model has more than the bound says, and one that could is
 * refused. */
#include <dirent.h>
#include <string.h>

#include "frame.h"
#include "model/cost/block.h"
#include "serving_case.h"
#include "spec/stack.h"

/* A layout in which every operator exists. */
static calc_exec whole_exec(void)
{
    calc_exec e = small_exec(8, 1, 1);
    e.num_procs = 32;
    e.training = true;
    e.strategy.context_par = 4;
    e.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_HIERARCHICAL;
    e.strategy.expert_par = 2;
    e.strategy.expert_tensor_par = 2;
    e.strategy.rank_capacity_factor = 2;
    e.strategy.paged_stash = 1;
    e.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    e.strategy.trained = CALC_TRAINED_ADAPTERS;
    e.strategy.lora_rank = 8;
    e.strategy.lora_experts = CALC_LORA_EXPERTS_EACH;
    return e;
}

static size_t longest(const calc_app *app)
{
    calc_system system = small_system();
    calc_exec exec = whole_exec();
    calc_shape shape = calc_shape_of(app, &exec.strategy, 1, 0);
    calc_cost_context context = calc_cost_context_of(&system, &exec, &shape, CALC_COMPAT_NONE);
    static calc_operator list[CALC_MAX_OPERATORS];
    size_t most = calc_block_mtp(&context, true, list);
    for (int kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        size_t count = calc_block_operators(&context, (calc_block_kind)kind, list);
        most = count > most ? count : most;
    }
    return most;
}

CALC_TEST(no_shipped_model_has_more_operators_than_its_bound)
{
    DIR *dir = opendir(CALC_DATA_DIR_SOURCE "/models");
    struct dirent *entry;
    int listed = 0;
    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir))) {
        char name[256];
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".json") != 0) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(dot - entry->d_name), entry->d_name);
        const calc_app app = shipped_app(name);
        if (app.stack.layers > 0) {
            size_t most = longest(&app);
            int bound = calc_stack_most_operators(&app.stack, true);
            listed++;
            ck_assert_msg((int)most <= bound, "%s: %zu, not at most %d", name, most, bound);
            ck_assert_int_le(bound, CALC_MAX_OPERATORS);
        }
    }
    closedir(dir);
    ck_assert_int_gt(listed, 15);
}

CALC_TEST(a_model_that_could_have_more_is_refused)
{
    calc_app app = shipped_app("llama3-8B");
    calc_system system = small_system();
    calc_exec exec = small_exec(1, 1, 1);
    calc_errors errors = {0};
    char pattern[512] = "";
    for (int i = 0; i < 14; i++) {
        const char *why;
        char name[8];
        snprintf(name, sizeof name, "a%d", i);
        calc_part *part = calc_stack_declare(&app, name, CALC_PART_TYPE_ATTENTION, &why);
        ck_assert_ptr_nonnull(part);
        part->window_size = 16 * (i + 1);
    }
    for (int i = 0; i < 14; i++) {
        char layer[32];
        snprintf(layer, sizeof layer, "%sa%d&a%d+mlp", i > 0 ? " " : "", i, (i + 1) % 14);
        strcat(pattern, layer);
    }
    calc_stack_fault fault;
    ck_assert_msg(calc_stack_read(&app, pattern, false, &fault), "%s", fault.text);
    app.num_blocks = 14;
    ck_assert_int_eq(calc_check(&app, &system, &exec, &errors), CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[0].pointer, "/layers");
}
