#include "model/serve/kv_cache.h"

#include "serving_case.h"

static calc_kv_cache cache_of(const calc_app *app, int64_t tensor_par, calc_format format)
{
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_DECODE, tensor_par, 1, 1, 1);
    e.inference.kv_datatype = format;
    calc_shape shape = calc_shape_of(app, &e.strategy, e.microbatch_size, e.seq_size);
    return calc_kv_cache_of(&shape, &e.inference);
}

/* Bytes of a token in all blocks, as the models' papers and inference engines have them. */
static void assert_token(const char *model, double block_bytes, double all_bytes)
{
    calc_app app = shipped_app(model);
    calc_kv_cache c = cache_of(&app, 1, CALC_FORMAT_BFLOAT16);
    ck_assert_double_eq(c.token_bytes, block_bytes);
    ck_assert_double_eq(c.token_bytes * (double)app.num_blocks, all_bytes);
    ck_assert_double_eq(c.rank_bytes, block_bytes);
}

START_TEST(a_token_takes_two_vectors_per_key_head_or_one_latent)
{
    assert_token("llama3-70B", 2 * 8 * 128 * 2, 327680);
    assert_token("llama3-405B", 4096, 516096);
    assert_token("mixtral-8x7B", 4096, 131072);
    assert_token("qwen3-30B-A3B", 2048, 98304);
    assert_token("deepseek-v3-671B", (512 + 64) * 2, 70272);
    assert_token("gpt3-175B", 2 * 12288 * 2, 4718592);
}
END_TEST

START_TEST(narrow_formats_take_less)
{
    calc_app app = shipped_app("llama3-70B");
    ck_assert_double_eq(cache_of(&app, 1, CALC_FORMAT_AUTO).token_bytes, 4096);
    ck_assert_double_eq(cache_of(&app, 1, CALC_FORMAT_FLOAT8).token_bytes, 2048);
    ck_assert_double_eq(cache_of(&app, 1, CALC_FORMAT_FLOAT4).token_bytes, 1152); /* with scales */
}
END_TEST

/* 8 key heads: 8 ranks have one each, 16 ranks have every head twice. A latent is not split. */
START_TEST(ranks_split_heads_down_to_one_and_never_a_latent)
{
    calc_app llama = shipped_app("llama3-70B");
    calc_app deepseek = shipped_app("deepseek-v3-671B");
    ck_assert_double_eq(cache_of(&llama, 2, CALC_FORMAT_AUTO).rank_bytes, 2048);
    ck_assert_double_eq(cache_of(&llama, 8, CALC_FORMAT_AUTO).rank_bytes, 512);
    ck_assert_double_eq(cache_of(&llama, 16, CALC_FORMAT_AUTO).rank_bytes, 512);
    ck_assert_double_eq(cache_of(&llama, 16, CALC_FORMAT_AUTO).token_bytes, 4096);
    ck_assert_double_eq(cache_of(&deepseek, 8, CALC_FORMAT_AUTO).rank_bytes, 1152);
}
END_TEST

START_TEST(sequences_take_whole_pages)
{
    calc_kv_cache c = {.rank_bytes = 10, .context_par = 1, .page = 16, .global = 1};
    ck_assert_double_eq(calc_kv_cache_stored(&c, 0), 0);
    ck_assert_double_eq(calc_kv_cache_stored(&c, 1), 16);
    ck_assert_double_eq(calc_kv_cache_stored(&c, 16), 16);
    ck_assert_double_eq(calc_kv_cache_stored(&c, 17), 32);
    ck_assert_double_eq(calc_kv_cache_read(&c, 17), 17);
    ck_assert_double_eq(calc_kv_cache_space(&c, 4, 3, 17), 10 * 4 * 3 * 32);
    c.context_par = 2;
    ck_assert_double_eq(calc_kv_cache_space(&c, 4, 3, 17), 10 * 4 * 3 * 16);
}
END_TEST

/* 10 of 62 blocks keep and read all, the others the last 1,024 tokens only. */
START_TEST(windowed_blocks_keep_the_window)
{
    calc_app app = shipped_app("gemma3-27B");
    ck_assert_int_eq(app.window_size, 1024);
    ck_assert_int_eq(app.global_every, 6);
    calc_kv_cache c = cache_of(&app, 1, CALC_FORMAT_AUTO);
    assert_near(calc_kv_cache_read(&c, 4096), (10 * 4096 + 52 * 1024) / 62.0);
    assert_near(calc_kv_cache_stored(&c, 4096), (10 * 4096 + 52 * 1024) / 62.0);
    assert_near(calc_kv_cache_read(&c, 1000), 1000);
    app.global_every = 0;
    c = cache_of(&app, 1, CALC_FORMAT_AUTO);
    ck_assert_double_eq(calc_kv_cache_read(&c, 4096), 1024);
}
END_TEST

/* Gemma 3, config.json: 5 local layers for each global one, 4 of 26, 5 of 34, 8 of 48, 10 of 62;
   4 key heads of 256 in 2 bytes (1B: 1; 12B: 8; 27B: 16 of 128), windows of 1,024 (1B: 512). */
START_TEST(the_caches_of_gemma_3_are_those_of_its_layers)
{
    static const struct {
        const char *name;
        double blocks, global, window, token_bytes;
    } models[] = {{"gemma3-1B", 26, 4, 512, 2 * 256 * 2},
                  {"gemma3-4B", 34, 5, 1024, 2 * 4 * 256 * 2},
                  {"gemma3-12B", 48, 8, 1024, 2 * 8 * 256 * 2},
                  {"gemma3-27B", 62, 10, 1024, 2 * 16 * 128 * 2}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        calc_app app = shipped_app(models[i].name);
        calc_kv_cache c = cache_of(&app, 1, CALC_FORMAT_AUTO);
        double tokens =
            models[i].global * 32002 + (models[i].blocks - models[i].global) * models[i].window;
        assert_near(calc_kv_cache_space(&c, (double)app.num_blocks, 1, 32002),
                    tokens * models[i].token_bytes);
    }
}
END_TEST

/* Counted one by one. */
static double pairs_by_hand(double global, int window, int cached, int fresh)
{
    double sum = 0;
    for (int at = cached + 1; at <= cached + fresh; at++) {
        int seen = window > 0 && at > window ? window : at;
        sum += window > 0 ? global * at + (1 - global) * seen : at;
    }
    return sum;
}

START_TEST(pairs_are_those_below_the_diagonal)
{
    const int windows[] = {0, 1, 4, 7, 100};
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        for (int cached = 0; cached < 12; cached++) {
            for (int fresh = 1; fresh < 12; fresh++) {
                calc_kv_cache c = {.window = windows[w], .global = windows[w] > 0 ? 0.25 : 1};
                assert_near(calc_kv_cache_pairs(&c, cached, fresh),
                            pairs_by_hand(0.25, windows[w], cached, fresh));
            }
        }
    }
}
END_TEST

/* As vLLM prints it: sequences, part of the last one counted, times their length. */
START_TEST(what_fits_is_whole_tokens_and_sequences)
{
    calc_kv_cache c = {.rank_bytes = 10, .context_par = 1, .page = 16, .global = 1};
    /* 2 blocks: 20 bytes a token, 640 a sequence of 17 tokens in 2 pages. */
    calc_kv_room room = calc_kv_cache_capacity(&c, 2, 17, 1919);
    ck_assert_double_eq(room.tokens, 50); /* 2.998 sequences */
    ck_assert_double_eq(room.sequences, 2);
    room = calc_kv_cache_capacity(&c, 2, 17, 1920);
    ck_assert_double_eq(room.tokens, 51);
    ck_assert_double_eq(room.sequences, 3);
    /* Half of the blocks keep 16 tokens only: 480 bytes a sequence, and room for more of them. */
    calc_kv_cache windowed = c;
    windowed.window = 16;
    windowed.global = 0.5;
    ck_assert_double_eq(calc_kv_cache_capacity(&windowed, 2, 17, 1920).tokens, 68);
    room = calc_kv_cache_capacity(&c, 2, 17, -1);
    ck_assert_double_eq(room.tokens, 0);
    ck_assert_double_eq(room.sequences, 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("kv_cache");
    tcase_add_test(cases, a_token_takes_two_vectors_per_key_head_or_one_latent);
    tcase_add_test(cases, narrow_formats_take_less);
    tcase_add_test(cases, ranks_split_heads_down_to_one_and_never_a_latent);
    tcase_add_test(cases, sequences_take_whole_pages);
    tcase_add_test(cases, windowed_blocks_keep_the_window);
    tcase_add_test(cases, the_caches_of_gemma_3_are_those_of_its_layers);
    tcase_add_test(cases, pairs_are_those_below_the_diagonal);
    tcase_add_test(cases, what_fits_is_whole_tokens_and_sequences);
    return run_cases(cases);
}
