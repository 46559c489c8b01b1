#include "spec/extended.h"

#include <string.h>

#include "small_case.h"
#include "spec/field.h"

/* Rows that alone change nothing beyond Calculon: what describes, what prices, where a group would
   be, and what says more about something that another row switches on. */
static const char *const silent[] = {
    /* price and power; where nodes end matters to rank_order and to stragglers only */
    "ranks_per_node",
    "watts",
    "usd_per_hour",
    /* more about experts (num_experts) */
    "experts_per_token",
    "expert_feedforward",
    "dense_blocks",
    "moe_every",
    "expert_groups",
    "groups_per_token",
    "router_bias",
    "router_datatype",
    "expert_par_net",
    "expert_tensor_par_net",
    "expert_data_par_net",
    "dispatch_type",
    "dispatch_datatype",
    "combine_datatype",
    "capacity_factor",
    "moe_imbalance",
    "expert_par_overlap",
    /* more about latent attention (kv_lora_rank) and the vocabulary (vocab_size) */
    "qk_nope_size",
    "qk_rope_size",
    "v_size",
    "vocab_multiple",
    /* more about context parallelism (context_par) */
    "context_par_net",
    "context_par_type",
    "context_par_inner",
    "context_par_balance",
};

static bool is_silent(const char *key)
{
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        if (strcmp(silent[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static struct {
    calc_app app;
    calc_system system;
    calc_exec exec;
} in;

static void start(void)
{
    in.app = small_app();
    in.system = small_system();
    in.exec = small_exec(2, 2, 2);
}

static bool extended(void)
{
    return calc_extended(&in.app, &in.system, &in.exec);
}

START_TEST(calculons_fields_are_not_extended)
{
    start();
    ck_assert(!extended());
    ck_assert(!calc_extended_app(&in.app));
    in.exec.optimizer_sharding = in.exec.data_par_overlap = true;
    in.exec.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_PIPE;
    in.exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    in.exec.attention_type = CALC_ATTENTION_TYPE_MULTIQUERY;
    in.exec.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    in.exec.datatype = CALC_DATATYPE_FLOAT32;
    ck_assert(!extended());
}
END_TEST

/* The smallest value that is not the absent one. */
static void set_something(const calc_field *row, char *object)
{
    char *member = object + row->offset;
    switch (row->type) {
    case CALC_TYPE_INT:
    case CALC_TYPE_SET:
        /* A parallel size of 1 is no size at all. */
        *(int64_t *)(void *)member = strstr(row->key, "_par") && row->absent == 0 ? 2 : 1;
        break;
    case CALC_TYPE_REAL:
        *(double *)(void *)member = 1e-9;
        break;
    case CALC_TYPE_BOOL:
        *(bool *)member = true;
        break;
    case CALC_TYPE_ENUM:
        *(int *)(void *)member = 1;
        break;
    case CALC_TYPE_CURVE:
        *(calc_curve *)(void *)member = flat_curve(0.5);
        break;
    default:
        ck_abort_msg("%s: a type this test does not know", row->key);
    }
}

static int checked;

static void walk(const calc_table *table, char *object, bool optional);

/* What is served says nothing without a phase. */
static void walk_serving(const calc_table *table, char *object)
{
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *row = &table->rows[i];
        set_something(row, object);
        ck_assert_msg(extended() == (strcmp(row->key, "phase") == 0), "%s: extended is %d",
                      row->key, extended());
        checked++;
        start();
    }
}

static void check_row(const calc_field *row, char *object, bool optional)
{
    optional = optional || row->flags & CALC_OPTIONAL;
    if (strcmp(row->key, "inference") == 0) {
        walk_serving(row->table, object + row->offset);
    } else if (row->type == CALC_TYPE_OBJECT) {
        walk(row->table, object + row->offset, optional);
    } else if (row->type == CALC_TYPE_LIST) {
        walk(row->table, object + row->offset + row->element, optional); /* the second */
    } else if (optional && row->type != CALC_TYPE_NOTE && row->type != CALC_TYPE_OP) {
        set_something(row, object);
        ck_assert_msg(extended() == !is_silent(row->key), "%s: extended is %d", row->key,
                      extended());
        checked++;
        start();
    }
}

static void walk(const calc_table *table, char *object, bool optional)
{
    for (size_t i = 0; i < table->count; i++) {
        check_row(&table->rows[i], object, optional);
    }
}

START_TEST(every_optional_row_is_extended_or_named_here)
{
    start();
    walk(calc_table_of(CALC_KIND_APP), (char *)&in.app, false);
    ck_assert_int_ge(checked, 30);
    walk(calc_table_of(CALC_KIND_EXEC), (char *)&in.exec, false);
    ck_assert_int_ge(checked, 75);
    walk(calc_table_of(CALC_KIND_SYSTEM), (char *)&in.system, false);
    ck_assert_int_ge(checked, 125);
}
END_TEST

START_TEST(every_name_here_is_a_row)
{
    static const calc_kind kinds[] = {CALC_KIND_APP, CALC_KIND_EXEC, CALC_KIND_SYSTEM};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        calc_field_ref ref;
        int found = 0;
        for (int k = 0; k < 3; k++) {
            found += calc_field_find(kinds[k], silent[i], &ref) == CALC_OK;
        }
        ck_assert_msg(found == 1, "%s: in %d tables", silent[i], found);
    }
}
END_TEST

START_TEST(parallel_sizes_of_one_are_not_extended)
{
    start();
    in.exec.context_par = in.exec.expert_par = in.exec.expert_tensor_par = 1;
    ck_assert(!extended());
    in.exec.expert_tensor_par = 2;
    ck_assert(extended());
}
END_TEST

START_TEST(a_new_choice_of_an_old_field_is_extended)
{
    start();
    in.exec.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_ASYNC;
    ck_assert(extended());
    start();
    in.exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
    ck_assert(extended());
    start();
    in.exec.attention_type = CALC_ATTENTION_TYPE_FLASH;
    ck_assert(extended());
    start();
    in.exec.datatype = CALC_DATATYPE_FLOAT4;
    ck_assert(extended());
}
END_TEST

START_TEST(only_networks_in_use_count)
{
    start();
    in.system.networks[2] = in.system.networks[1];
    in.system.networks[2].reduction_in_network = true;
    ck_assert(!extended());
    in.system.networks_count = 3;
    ck_assert(extended());
}
END_TEST

START_TEST(the_application_alone_decides_about_the_application)
{
    start();
    in.exec.flash_attention = true;
    ck_assert(extended());
    ck_assert(!calc_extended_app(&in.app));
    in.app.mtp_blocks = 1;
    ck_assert(calc_extended_app(&in.app));
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("extended");
    tcase_add_test(cases, calculons_fields_are_not_extended);
    tcase_add_test(cases, every_optional_row_is_extended_or_named_here);
    tcase_add_test(cases, every_name_here_is_a_row);
    tcase_add_test(cases, parallel_sizes_of_one_are_not_extended);
    tcase_add_test(cases, a_new_choice_of_an_old_field_is_extended);
    tcase_add_test(cases, only_networks_in_use_count);
    tcase_add_test(cases, the_application_alone_decides_about_the_application);
    return run_cases(cases);
}
