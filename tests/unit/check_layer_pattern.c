/* Patterns over the named parts of a model's layers: what they mean, what is refused, and that what
 * is written reads back. */
#include "spec/stack.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "frame.h"

static calc_app app;

static void start(void)
{
    memset(&app, 0, sizeof app);
    app.hidden = 64;
    app.attn_heads = 8;
    app.kv_heads = 2;
    app.num_experts = 4;
}

static calc_part *declare(const char *name, calc_part_type type)
{
    const char *why;
    calc_part *part = calc_stack_declare(&app, name, type, &why);
    ck_assert_msg(part != NULL, "%s: %s", name, part ? "" : why);
    return part;
}

/* The kinds of the layers, written out. */
static void reads_as(const char *pattern, const char *expected)
{
    calc_stack_fault fault;
    char text[1024] = "", one[96];
    ck_assert_msg(calc_stack_read(&app, pattern, false, &fault), "%s: %s", pattern, fault.text);
    for (int32_t i = 0; i < app.stack.layers; i++) {
        strcat(text, i > 0 ? " " : "");
        strcat(text, calc_stack_kind_text(&app.stack, app.stack.layer[i], one, sizeof one));
    }
    ck_assert_str_eq(text, expected);
}

static void is_written(const char *pattern, const char *expected)
{
    char text[CALC_STACK_TEXT];
    calc_stack_fault fault;
    ck_assert_msg(calc_stack_read(&app, pattern, false, &fault), "%s: %s", pattern, fault.text);
    ck_assert_str_eq(calc_stack_text(&app.stack, false, text, sizeof text), expected);
}

CALC_TEST(a_pattern_lists_layers)
{
    start();
    declare("gdn", CALC_PART_TYPE_GATED_DELTA);
    declare("ssm", CALC_PART_TYPE_MAMBA2);
    reads_as("attention+mlp", "attention+mlp");
    reads_as("2xgdn+moe attention+moe", "gdn+moe gdn+moe attention+moe");
    reads_as("2x(gdn+moe 2xattention+mlp)", "gdn+moe attention+mlp attention+mlp gdn+moe "
                                            "attention+mlp attention+mlp");
    reads_as(" ssm&attention+mlp&moe\n gdn mlp", "ssm&attention+mlp&moe gdn mlp");
    reads_as("1x(1x(1xgdn))", "gdn");
}

CALC_TEST(letters_are_a_part_each)
{
    start();
    declare("M", CALC_PART_TYPE_MAMBA2);
    declare("E", CALC_PART_TYPE_MOE);
    declare("*", CALC_PART_TYPE_ATTENTION);
    reads_as("MEM*E", "M E M * E");
    is_written("MEM*E", "MEM*E");
    reads_as("2x(M E) *", "M E M E *");
}

CALC_TEST(counts_are_of_the_layers)
{
    start();
    declare("gdn", CALC_PART_TYPE_GATED_DELTA);
    reads_as("gdn+moe", "gdn+moe");
    calc_stack_fault fault;
    ck_assert(calc_stack_read(&app, "12x(3xgdn+moe attention+moe)", false, &fault));
    ck_assert_int_eq(app.stack.layers, 48);
    int count[2] = {0, 0};
    for (int i = 0; i < app.stack.kinds; i++) {
        const calc_layer_kind *k = &app.stack.kind[i];
        count[app.stack.part[k->mixer[0]].type == CALC_PART_TYPE_ATTENTION] += k->count;
    }
    ck_assert_int_eq(count[0], 36);
    ck_assert_int_eq(count[1], 12);
    ck_assert(calc_stack_read(&app, "attention+moe", true, &fault));
    ck_assert_int_eq(app.stack.mtp, 1);
    ck_assert_int_eq(app.stack.layers, 48);
}

CALC_TEST(a_part_has_the_fields_of_the_model)
{
    start();
    calc_part *local = declare("local", CALC_PART_TYPE_ATTENTION);
    ck_assert_int_eq(local->attn_heads, 8);
    local->window_size = 128;
    calc_app before = app;
    app.kv_heads = 4;
    app.window_size = 256;
    calc_stack_follow(&before, &app);
    ck_assert_int_eq(app.stack.part[0].kv_heads, 4);
    ck_assert_int_eq(app.stack.part[0].window_size, 128); /* its own */
    ck_assert(!calc_stack_same(&before.stack, &app.stack));
    ck_assert(calc_stack_same(&app.stack, &app.stack));
}

CALC_TEST(what_is_written_is_short)
{
    start();
    declare("a", CALC_PART_TYPE_ATTENTION);
    declare("gdn", CALC_PART_TYPE_GATED_DELTA);
    is_written("3xa+mlp 58xa+moe", "3xa+mlp 58xa+moe");
    is_written("gdn+moe gdn+moe gdn+moe a+moe gdn+moe gdn+moe gdn+moe a+moe",
               "2x(3xgdn+moe a+moe)");
    is_written("a gdn", "a gdn");
}

/* Any sequence of layers reads back from its text. */
CALC_TEST(what_is_written_reads_back)
{
    static const char *const kinds[] = {"a+mlp", "gdn+moe", "a+moe", "mlp", "gdn&a+mlp"};
    calc_rng rng;
    calc_rng_init(&rng, 32, 1);
    for (int run = 0; run < 2000; run++) {
        char text[CALC_STACK_TEXT] = "", again[CALC_STACK_TEXT];
        calc_stack_fault fault;
        start();
        declare("a", CALC_PART_TYPE_ATTENTION);
        declare("gdn", CALC_PART_TYPE_GATED_DELTA);
        uint32_t length = 1 + calc_rng_below(&rng, 60);
        uint32_t period = 1 + calc_rng_below(&rng, 8);
        uint32_t first[8];
        for (uint32_t i = 0; i < 8; i++) {
            first[i] = calc_rng_below(&rng, 5);
        }
        for (uint32_t i = 0; i < length; i++) {
            bool stray = calc_rng_below(&rng, 20) == 0;
            uint32_t kind = stray ? calc_rng_below(&rng, 5) : first[i % period];
            strcat(text, kinds[kind]);
            strcat(text, " ");
        }
        ck_assert_msg(calc_stack_read(&app, text, false, &fault), "%s: %s", text, fault.text);
        calc_app before = app;
        calc_stack_text(&app.stack, false, again, sizeof again);
        ck_assert_msg(calc_stack_read(&app, again, false, &fault), "%s: %s", again, fault.text);
        ck_assert_int_eq(before.stack.layers, (int)length);
        ck_assert_msg(calc_stack_same(&before.stack, &app.stack), "%s\n%s", text, again);
    }
}

CALC_TEST(what_is_wrong_is_said)
{
    static const struct {
        const char *pattern, *text;
        size_t at;
    } wrong[] = {
        {"", "no layers", 0},
        {"attention+mpl", "there is no part \"mpl\"", 10},
        {"attention+m\rlp", "there is no part \"...\"", 10},
        {"attention+", "expected the name of a part", 10},
        {"mlp+attention", "a layer has a mixer, then a feed-forward part, not \"attention\" here",
         4},
        {"attention+attention",
         "a layer has a mixer, then a feed-forward part, not \"attention\" here", 10},
        {"attention&mlp", "a layer has a mixer, then a feed-forward part, not \"mlp\" here", 10},
        {"2x(attention", "a bracket is not closed", 0},
        {"attention)", "a bracket is closed that was not opened", 9},
        {"0xattention", "repeats 1 to 512 times", 0},
        {"513xattention", "repeats 1 to 512 times", 0},
        {"512xattention mlp", "more than 512 layers", 17},
        {"attention|mlp", "\"|\" is not part of a pattern", 9},
        {"2x(2x(2x(2x(2x(2x(2x(2x(2x(mlp)))))))))", "more than 8 brackets in one another", 24},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        calc_stack_fault fault;
        start();
        calc_app before = app;
        ck_assert_msg(!calc_stack_read(&app, wrong[i].pattern, false, &fault), "%s",
                      wrong[i].pattern);
        ck_assert_str_eq(fault.text, wrong[i].text);
        ck_assert_msg(fault.at == wrong[i].at, "%s: %zu", wrong[i].pattern, fault.at);
        ck_assert_int_eq(memcmp(&before, &app, sizeof app), 0);
    }
}

CALC_TEST(marks_of_megatron_are_refused_with_what_to_write_instead)
{
    static const char *const marks[][2] = {
        {"|", "the layout says where stages end: \"stages\""},
        {"/", "say those of multi-token prediction in \"mtp_layers\""}};
    for (size_t i = 0; i < 2; i++) {
        calc_stack_fault fault;
        char pattern[32], text[64];
        snprintf(pattern, sizeof pattern, "attention%smlp", marks[i][0]);
        snprintf(text, sizeof text, "\"%s\" is not part of a pattern", marks[i][0]);
        start();
        ck_assert(!calc_stack_read(&app, pattern, false, &fault));
        ck_assert_str_eq(fault.text, text);
        ck_assert_str_eq(fault.hint, marks[i][1]);
    }
}

CALC_TEST(names_that_a_pattern_cannot_say_are_refused)
{
    static const char *const names[] = {
        "", "3x", "a b", "a+b", "a&b", "(a", "a23456789012345678901234"};
    const char *why;
    start();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_msg(!calc_stack_declare(&app, names[i], CALC_PART_TYPE_MLP, &why), "%s",
                      names[i]);
        ck_assert_ptr_nonnull(strstr(why, "a name has"));
    }
    declare("a", CALC_PART_TYPE_MLP);
    ck_assert_ptr_null(calc_stack_declare(&app, "a", CALC_PART_TYPE_MLP, &why));
    ck_assert_str_eq(why, "another part has this name");
    for (int i = 1; i < CALC_MAX_PARTS; i++) {
        declare((char[]){(char)('a' + i), '\0'}, CALC_PART_TYPE_MLP);
    }
    ck_assert_ptr_null(calc_stack_declare(&app, "more", CALC_PART_TYPE_MLP, &why));
    ck_assert_str_eq(why, "a model has at most 16 parts");
    calc_stack_fault fault; /* nor does a type stand for one more */
    ck_assert(!calc_stack_read(&app, "attention+a", false, &fault));
    ck_assert_str_eq(fault.text, "there is no part \"attention\"");
}
