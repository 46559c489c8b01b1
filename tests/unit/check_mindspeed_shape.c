#include "mindspeed/operators.h"

#include "frame.h"

static void is(calc_mindspeed_type type, const char *in, const char *out, double a, double b,
               double c, double d)
{
    calc_mindspeed_shape shape;
    ck_assert_int_eq(calc_mindspeed_shape_read(type, in, out, &shape), CALC_MINDSPEED_SHAPE_GOOD);
    const calc_mindspeed_shape expected = {type, {a, b, c, d}};
    ck_assert_msg(calc_mindspeed_shape_equal(&shape, &expected), "%s: %g %g %g %g", in,
                  shape.size[0], shape.size[1], shape.size[2], shape.size[3]);
}

CALC_TEST(multiplications_are_turned_back)
{
    /* 512 x 4096 times 4096 x 11008: either operand may be transposed. */
    is(CALC_MINDSPEED_MATMUL, "512,4096;11008,4096", "512,11008", 1, 512, 4096, 11008);
    is(CALC_MINDSPEED_MATMUL, "512,4096;4096,11008", "512,11008", 1, 512, 4096, 11008);
    is(CALC_MINDSPEED_MATMUL, "4096,512;4096,11008", "512,11008", 1, 512, 4096, 11008);
    is(CALC_MINDSPEED_MATMUL, "\"4096,512;4096,11008;11008\"", "\"512,11008\"", 1, 512, 4096,
       11008);
    is(CALC_MINDSPEED_MATMUL, "64,64;64,64", "64,64", 1, 64, 64, 64);
    is(CALC_MINDSPEED_MATMUL, "32,7,64;32,64,9", "32,7,9", 32, 7, 64, 9);
    is(CALC_MINDSPEED_MATMUL, "2,3,7,64;2,3,9,64", "2,3,7,9", 6, 7, 64, 9);
    /* The inner size is what both have: 64 x 8 times 8 x 9, both transposed. */
    is(CALC_MINDSPEED_MATMUL, "8,64;9,8", "64,9", 1, 64, 8, 9);
}

CALC_TEST(norms_and_attention_are_their_inputs)
{
    is(CALC_MINDSPEED_RMS_NORM, "2048,1,4096;4096", "2048,1,4096", 2048, 1, 4096, 1);
    is(CALC_MINDSPEED_FLASH, "2048,4,512;2048,4,512;2048,4,512;;;;2048,2048", "", 2048, 4, 512, 1);
}

static void kind(calc_mindspeed_type type, const char *in, const char *out,
                 calc_mindspeed_shape_kind expected)
{
    calc_mindspeed_shape shape;
    ck_assert_msg(calc_mindspeed_shape_read(type, in, out, &shape) == expected, "%s", in);
}

CALC_TEST(what_is_not_modelled)
{
    const calc_mindspeed_shape_kind other = CALC_MINDSPEED_SHAPE_OTHER;
    kind(CALC_MINDSPEED_MATMUL, "N/A", "N/A", other);
    kind(CALC_MINDSPEED_RMS_NORM, "4,8", "4,8", other); /* too short a text */
    kind(CALC_MINDSPEED_RMS_NORM, "2048,4096", "2048,4096", other);
    kind(CALC_MINDSPEED_MATMUL, "512,4096;11008,4095", "512,11008", other);
    kind(CALC_MINDSPEED_MATMUL, "512,4096", "512,11008", other);
    kind(CALC_MINDSPEED_MATMUL, "256,32,16,16;688,256,16,16", "688,32,16,16", other);
    kind(CALC_MINDSPEED_FLASH, "2048,4,512;2048,4,64;2048,4,64", "", other); /* grouped queries */
    kind(CALC_MINDSPEED_FLASH, "2048,4,512;2048,4,512", "", other);
}

CALC_TEST(what_is_no_shape)
{
    const calc_mindspeed_shape_kind wrong = CALC_MINDSPEED_SHAPE_WRONG;
    kind(CALC_MINDSPEED_MATMUL, "512,x;1,2", "512,2", wrong);
    kind(CALC_MINDSPEED_MATMUL, "512,4096;4096,1", "-1,1", wrong);
    kind(CALC_MINDSPEED_RMS_NORM, "2048,0,4096", "", wrong);
    kind(CALC_MINDSPEED_RMS_NORM, "2048,1.5,4096", "", wrong);
    kind(CALC_MINDSPEED_RMS_NORM, "1,1,1,1,1,1,1,1,1", "", wrong);
    kind(CALC_MINDSPEED_RMS_NORM, "99999999999999999999,1,1", "", wrong);
}

CALC_TEST(names_have_versions)
{
    static const struct {
        const char *name;
        calc_mindspeed_type type;
    } names[] = {{"MatMulV2", CALC_MINDSPEED_MATMUL},
                 {"BatchMatMulV2", CALC_MINDSPEED_MATMUL},
                 {"RmsNorm", CALC_MINDSPEED_RMS_NORM},
                 {"RmsNormGrad", CALC_MINDSPEED_RMS_NORM_GRAD},
                 {"LayerNormV3", CALC_MINDSPEED_LAYER_NORM},
                 {"LayerNormXBackpropV3", CALC_MINDSPEED_LAYER_NORM_GRAD},
                 {"LayerNormBetaGammaBackpropV2", CALC_MINDSPEED_LAYER_NORM_GRAD},
                 {"FlashAttentionScore", CALC_MINDSPEED_FLASH},
                 {"FlashAttentionScoreGrad", CALC_MINDSPEED_FLASH_GRAD},
                 {"Add", CALC_MINDSPEED_TYPES},
                 {"", CALC_MINDSPEED_TYPES}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_int_eq(calc_mindspeed_shape_type(names[i].name), names[i].type);
    }
    for (int type = 0; type < CALC_MINDSPEED_TYPES; type++) {
        const char *name = calc_mindspeed_shape_type_name((calc_mindspeed_type)type);
        ck_assert_int_eq((int)calc_mindspeed_shape_type(name), type);
    }
}
