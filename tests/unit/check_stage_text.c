#include "spec/stack.h"

#include "frame.h"
#include "model/operators/shape.h"
#include "model/stages/stages.h"

static const char *written(int64_t blocks, int64_t stages, bool ends, int64_t mtp_blocks)
{
    static char text[4096];
    const calc_stage_text s = {
        .stages = stages, .blocks = blocks, .mtp_blocks = mtp_blocks, .ends = ends};
    ck_assert(calc_stage_text_write(&s, text, sizeof text));
    return text;
}

CALC_TEST(stages_are_letters_between_bars)
{
    ck_assert_str_eq(written(61, 16, true, 0), "Et*3|(t*4|)*14t*2L");
    ck_assert_str_eq(written(61, 16, false, 1), "Et*4|(t*4|)*12(t*3|)*2t*3mL");
    ck_assert_str_eq(written(5, 2, false, 0), "Et*3|t*2L");
    ck_assert_str_eq(written(3, 3, true, 0), "Et|t*2|L");
    ck_assert_str_eq(written(4, 4, true, 2), "Et|t*2|t|mmL");
}

CALC_TEST(what_is_written_comes_back)
{
    for (int64_t blocks = 1; blocks < 130; blocks += 3) {
        for (int64_t stages = 2; stages <= blocks && stages <= 32; stages++) {
            for (int ends = 0; ends < 2; ends++) {
                calc_stage_text back;
                ck_assert(calc_stage_text_read(written(blocks, stages, ends, blocks % 2), &back));
                ck_assert_int_eq(back.stages, stages);
                ck_assert_int_eq(back.blocks, blocks);
                ck_assert_int_eq(back.mtp_blocks, blocks % 2);
                char again[4096];
                ck_assert(calc_stage_text_write(&back, again, sizeof again));
                ck_assert_str_eq(again, written(blocks, stages, ends, blocks % 2));
            }
        }
    }
}

/* Blocks of stage i in a text without multiples that stretch over bars. */
static int64_t blocks_in(const char *text, int64_t stage)
{
    calc_stage_text s;
    ck_assert(calc_stage_text_read(text, &s));
    int64_t all = s.blocks + (s.ends ? 2 : 0);
    return all / s.stages + (stage < all % s.stages) - (s.ends && stage == 0) -
           (s.ends && stage == s.stages - 1);
}

CALC_TEST(the_model_spreads_blocks_the_same_way)
{
    calc_app app = {.hidden = 128,
                    .feedforward = 512,
                    .seq_size = 128,
                    .attn_heads = 8,
                    .attn_size = 16,
                    .vocab_size = 1000};
    for (int64_t blocks = 4; blocks < 130; blocks += 5) {
        for (int64_t stages = 2; stages <= 32 && stages + 2 <= blocks; stages++) {
            for (int ends = 0; ends < 2; ends++) {
                calc_exec exec = {.num_procs = stages,
                                  .strategy.tensor_par = 1,
                                  .pipeline_par = stages,
                                  .strategy.data_par = 1,
                                  .batch_size = stages,
                                  .microbatch_size = 1,
                                  .pipeline_interleaving = 1,
                                  .training = true,
                                  .pipeline_balance = ends ? CALC_PIPELINE_BALANCE_ENDS
                                                           : CALC_PIPELINE_BALANCE_BLOCKS};
                app.num_blocks = blocks;
                calc_shape shape = calc_shape_of(&app, &exec.strategy, 1, 0);
                calc_stages split = calc_stages_split(&shape, &exec, CALC_COMPAT_NONE);
                const char *text = written(blocks, stages, ends, 0);
                for (size_t i = 0; i < split.count; i++) {
                    const calc_stage_class *c = &split.item[i];
                    for (int64_t k = 0; k < (int64_t)c->stages; k++) {
                        ck_assert_int_eq(blocks_in(text, (int64_t)c->position + k),
                                         (int64_t)(c->dense + c->moe));
                    }
                }
            }
        }
    }
}

CALC_TEST(multiples_and_commas_are_written_out)
{
    calc_stage_text s;
    ck_assert(calc_stage_text_read("Ett|(tttt|)*2tL", &s)); /* 2 4 4 1 */
    ck_assert(s.uneven);
    ck_assert(calc_stage_text_read("Ett|(ttt|)*2tL", &s)); /* 2 3 3 1 */
    ck_assert(s.ends && !s.uneven);
    ck_assert(calc_stage_text_read("Ettt|(tt|)*29m|L", &s)); /* of DeepSeek-V3 */
    ck_assert_int_eq(s.stages, 32);
    ck_assert_int_eq(s.blocks, 61);
    ck_assert(s.uneven);
    ck_assert(calc_stage_text_read("Ettt|ttt,|(tt|)*2ttmL", &s));
    ck_assert_int_eq(s.stages, 5);
    ck_assert_int_eq(s.blocks, 12);
    ck_assert_int_eq(s.mtp_blocks, 1);
    ck_assert(!s.ends);
    ck_assert(calc_stage_text_read("Ettt|(tt|)*6mL", &s)); /* the head on a chunk of its own */
    ck_assert(s.uneven && s.listed);
    ck_assert_int_eq(s.stages, 8);
    ck_assert_int_eq(s.blocks, 15);
    ck_assert_int_eq(s.block[0], 3);
    ck_assert_int_eq(s.block[6], 2);
    ck_assert_int_eq(s.block[7], 0);
    ck_assert(calc_stage_text_read("E|tt|tttL", &s));
    ck_assert(s.listed && s.block[0] == 0);
    ck_assert(calc_stage_text_read("Ett||tttL", &s)); /* nothing at all between two bars */
    ck_assert(s.uneven && !s.listed);
    ck_assert(calc_stage_text_read("E(t|)*3tL", &s));
    ck_assert_int_eq(s.stages, 4);
}

CALC_TEST(what_is_no_such_text_is_refused)
{
    static const char *const texts[] = {"",        "E",       "EL*",         "ttL",
                                        "Ett",     "Et|tLt",  "Et|mt|tL",    "Etm|tL",
                                        "Et*0|tL", "Et*x|tL", "Et|q|tL",     "Et|(t|L",
                                        "EEt|tL",  "Em|tL",   "Et*99999|tL", "E(t*9999|)*9999tL",
                                        "Et|t(L"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        calc_stage_text s;
        ck_assert_msg(!calc_stage_text_read(texts[i], &s), "%s", texts[i]);
    }
}

CALC_TEST(a_text_that_does_not_fit_is_not_written)
{
    char text[12];
    const calc_stage_text s = {.stages = 16, .blocks = 61, .ends = true};
    ck_assert(!calc_stage_text_write(&s, text, sizeof text));
    const calc_stage_text few = {
        .stages = 4, .blocks = 1, .ends = true}; /* a stage for the head alone, and less */
    char more[64];
    ck_assert(!calc_stage_text_write(&few, more, sizeof more));
}
