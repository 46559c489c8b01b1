#include "model/cost/state.h"

#include "spec/format.h"

/* Whether 8-bit numbers have scales of blocks of 32: other machines than those that multiply 4 bits
 * have one for 128 x 128 weights. */
static bool micro_scaled(const calc_strategy *s, const calc_chip *chip)
{
    return s->scaling == CALC_SCALING_BLOCK && chip->matrix[CALC_DATATYPE_FLOAT4].flop_per_s > 0;
}

/* Bytes of a weight in a narrow format, in the planes that its two passes read: by rows and by
 * columns, each with scales of its own where those are of blocks. One plane of 8 bits with a scale
 * per tensor serves both where multiplications read either. Source: TransformerEngine,
 * is_non_tn_fp8_gemm_supported(), MXFP8Quantizer and NVFP4Quantizer; its
 * test_cpu_offloading_v1.py (_estimate_cached_weight_size) has the same counts. */
static double planes_bytes(const calc_strategy *s, const calc_chip *chip, calc_format format)
{
    bool one = chip->float8_either_order && format == CALC_FORMAT_FLOAT8 &&
               s->scaling != CALC_SCALING_BLOCK;
    return (one ? 1 : 2) * calc_format_scaled_bytes(format, micro_scaled(s, chip));
}

calc_state_bytes calc_state_bytes_of(const calc_strategy *s, const calc_shape *shape,
                                     const calc_chip *chip, bool training)
{
    int64_t zero = calc_zero_stage(s);
    double element = shape->element_bytes;
    double computed = shape->weight_bytes < element ? shape->weight_bytes : element;
    double held = shape->weight_bytes > element && zero == 2 ? computed : shape->weight_bytes;
    double master = held < 4 ? 4 : 0;
    bool own = s->master_datatype != CALC_FORMAT_AUTO &&
               calc_format_datatype(s->master_datatype, s->datatype) ==
                   calc_format_datatype(s->weight_datatype, s->datatype);
    bool planes = training && s->memory_model == CALC_MEMORY_MODEL_MEGATRON;
    bool narrow = planes && held < 2;
    calc_format format = !narrow                                  ? s->matrix_datatype
                         : s->weight_datatype == CALC_FORMAT_AUTO ? CALC_FORMAT_FLOAT8
                                                                  : s->weight_datatype;
    double both = planes ? planes_bytes(s, chip, format) : 0;
    bool split = planes && shape->matrix_bytes < element && zero < 3 &&
                 (narrow || calc_format_stored(s) == s->matrix_datatype);
    bool again = narrow && split && format == CALC_FORMAT_FLOAT8 && micro_scaled(s, chip);
    return (calc_state_bytes){
        .weight = !narrow ? held
                  : split ? element
                          : both,
        .narrowed = !split   ? 0
                    : narrow ? both - element
                             : both,
        .sent = calc_format_bytes_or(s->param_gather_datatype, again ? element : held),
        .grad = shape->grad_bytes,
        .reduced = calc_format_bytes_or(s->grad_reduce_datatype, shape->grad_bytes),
        .master = own && held == shape->weight_bytes
                      ? 0
                      : calc_format_bytes_or(s->master_datatype, master),
        .moments = s->optimizer == CALC_OPTIMIZER_MUON ? 1 : 2,
        .moment = calc_format_bytes_or(s->optimizer_moment_datatype, 4),
        .gathered = calc_format_bytes_or(s->param_gather_datatype, computed),
    };
}
