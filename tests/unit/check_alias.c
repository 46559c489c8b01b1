#include "spec/alias.h"

#include "frame.h"
#include "spec/field.h"

static const struct {
    calc_kind kind;
    const char *key, *field;
} keys[] = {{CALC_KIND_APP, "moe_topk", "experts_per_token"},
            {CALC_KIND_APP, "moe_feedforward", "expert_feedforward"},
            {CALC_KIND_APP, "first_k_dense", "dense_blocks"},
            {CALC_KIND_APP, "qk_nope_head_dim", "qk_nope_size"},
            {CALC_KIND_APP, "qk_rope_head_dim", "qk_rope_size"},
            {CALC_KIND_APP, "v_head_dim", "v_size"},
            {CALC_KIND_APP, "kv_groups", "kv_heads"},
            {CALC_KIND_APP, "num_nextn_predict_layers", "mtp_blocks"},
            {CALC_KIND_EXEC, "matrix_dtype", "matrix_datatype"},
            {CALC_KIND_EXEC, "tp", "tensor_par"},
            {CALC_KIND_EXEC, "vpp", "pipeline_interleaving"},
            {CALC_KIND_EXEC, "gpus", "num_procs"},
            {CALC_KIND_SYSTEM, "price", "usd_per_hour"}};

CALC_TEST(other_keys_lead_to_the_same_row)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const calc_table *table = calc_table_of(keys[i].kind);
        const calc_field *field = calc_alias_find(table, keys[i].key);
        ck_assert_msg(field != NULL, "%s", keys[i].key);
        ck_assert_str_eq(field->key, keys[i].field);
        ck_assert_str_eq(field->also[0], keys[i].key);
        ck_assert_ptr_eq(calc_table_find(table, keys[i].key), field);
    }
}

CALC_TEST(statistics_have_short_names_and_those_of_the_summary)
{
    static const struct {
        const char *name, *key;
    } names[] = {{"mfu", "model_flops_utilization"}, {"hfu", "hardware_flops_utilization"},
                 {"mem1", "proc_mem_tier1_cap_req"}, {"memory", "proc_mem_tier1_cap_req"},
                 {"time per step", "total_time"},    {"waiting for the host", "host_time"}};
    const calc_table *stats = calc_table_of(CALC_KIND_STATS);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const calc_field *field = calc_table_find(stats, names[i].name);
        ck_assert_msg(field != NULL, "%s", names[i].name);
        ck_assert_str_eq(field->key, names[i].key);
    }
}

/* The rest of a name says what is meant inside an object: "inference." is no likeness. */
CALC_TEST(a_hint_has_the_nearest_path)
{
    static const char *const others[] = {"objectives", NULL};
    static const struct {
        calc_kind only;
        const char *path, *hint;
    } cases[] = {
        {CALC_KIND_NONE, "mem1GiB", "did you mean \"mem1.GiB\"?"},
        {CALC_KIND_SYSTEM, "men1.GiB", "did you mean \"sys.mem1.GiB\"?"},
        {CALC_KIND_NONE, "networks.size", "did you mean \"networks[0].size\"?"},
        {CALC_KIND_NONE, "inference.phse", "did you mean \"inference.phase\"?"},
        {CALC_KIND_NONE, "phase", "did you mean \"inference.phase\"?"},
        {CALC_KIND_NONE, "inference.max_batch_tokens", ""},
        {CALC_KIND_NONE, "enforce_eager", "did you mean \"inference.traits.eager\"?"},
        {CALC_KIND_NONE, "inference.enforce_eager", "did you mean \"inference.traits.eager\"?"},
        {CALC_KIND_EXEC, "inference.isl", "did you mean \"exe.inference.prompt_size\"?"},
        {CALC_KIND_NONE, "layer", "did you mean \"layers\"?"},
        {CALC_KIND_EXEC, "hidden", ""},
        {CALC_KIND_NONE, "objektives", "did you mean \"objectives\"?"},
        {CALC_KIND_NONE, "", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char hint[160];
        calc_alias_hint(cases[i].only, cases[i].path, others, hint, sizeof hint);
        ck_assert_str_eq(hint, cases[i].hint);
    }
}

/* No name is that of two fields. */
CALC_TEST(all_names_of_a_field_are_its_own)
{
    size_t count = 0;
    for (calc_kind kind = CALC_KIND_APP; kind <= CALC_KIND_NONE; kind++) {
        const calc_table *table = kind == CALC_KIND_NONE ? calc_part_table() : calc_table_of(kind);
        for (size_t i = 0; i < table->count; i++) {
            for (const char *const *also = table->rows[i].also; *also; also++, count++) {
                ck_assert_ptr_eq(calc_alias_find(table, *also), &table->rows[i]);
                for (size_t k = 0; k < table->count; k++) {
                    ck_assert_str_ne(table->rows[k].key, *also);
                }
            }
            ck_assert_ptr_null(table->rows[i].also[2]);
        }
    }
    ck_assert_uint_eq(count, 92);
}

CALC_TEST(a_key_is_of_one_document_and_has_no_other_name_unless_listed)
{
    const calc_table *app = calc_table_of(CALC_KIND_APP);
    const calc_table *exec = calc_table_of(CALC_KIND_EXEC);
    ck_assert_ptr_null(calc_alias_find(exec, "moe_topk"));
    ck_assert_ptr_null(calc_table_find(exec, "moe_topk"));
    ck_assert_ptr_null(calc_alias_find(app, "matrix_dtype"));
    ck_assert_ptr_null(calc_alias_find(app, "hidden"));
}

/* Its value needs those of other fields, which are read before. */
CALC_TEST(a_count_of_experts_is_no_other_name_of_their_width)
{
    const calc_table *app = calc_table_of(CALC_KIND_APP);
    const calc_field *field = calc_alias_find(app, "num_shared_experts");
    ck_assert_str_eq(field->key, "shared_feedforward");
    ck_assert_ptr_null(calc_table_find(app, "num_shared_experts"));
    for (int i = 0; i < 2; i++) {
        const calc_field *times = calc_table_find(app, field->times[i]);
        ck_assert_ptr_nonnull(times);
        ck_assert_int_eq(times->type, CALC_TYPE_INT);
        ck_assert(times < field);
    }
}

CALC_TEST(other_words_are_the_choice_they_stand_for)
{
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_EXEC), "attention_type");
    ck_assert_str_eq(calc_alias_choice("mla"), "multi_latent");
    ck_assert_str_eq(calc_alias_choice("groupquery"), "grouped_query");
    ck_assert_ptr_null(calc_alias_choice("multi_latent"));
    ck_assert_str_eq(calc_alias_of_choice("multi_latent"), "mla");
    ck_assert_str_eq(calc_alias_of_choice("grouped_query"), "groupquery");
    ck_assert_ptr_null(calc_alias_of_choice("flash"));
    ck_assert_int_eq(calc_choice_index(field->choices, "mla"), CALC_ATTENTION_TYPE_MULTI_LATENT);
    ck_assert_int_eq(calc_choice_index(field->choices, "groupquery"),
                     CALC_ATTENTION_TYPE_GROUPED_QUERY);
    ck_assert_int_eq(calc_choice_index(calc_datatype_names, "mla"), -1);
}
