#include "model/operators/adapter.h"

#include "model/operators/processor.h"

/* ---- Adapters -------------------------------------------------------------------------------- */

/* An adapter: as many pairs of factors as products that are adapted, or one for all of them. */
typedef struct pairs_sum {
    double count;
    double width; /* of all outputs on a rank */
} pairs_sum;

static pairs_sum pairs_of(const calc_strategy *s, const calc_adapter_product *products, int count)
{
    pairs_sum p = {0, 0};
    bool all = true;
    for (int i = 0; i < count; i++) {
        int module = products[i].module;
        bool named =
            s->lora_modules == 0 ? module != CALC_LORA_MODULES_HEAD : s->lora_modules >> module & 1;
        bool is = products[i].width > 0 && s->lora_rank > 0 && named;
        all = all && (is || products[i].width <= 0);
        p.count += is;
        p.width += is ? products[i].width : 0;
    }
    p.count = s->lora_fused && all ? calc_min(p.count, 1) : p.count;
    return p;
}

/* One factor of so many adapters: rows x inner times inner x columns, `copies` of it of which a row
 * meets one. */
static calc_operator *add_factor(calc_build *b, const calc_operator *matrix, const char *name,
                                 double pairs, double rows, double inner, double columns,
                                 double copies, bool grouped)
{
    calc_operator_kind kind = grouped ? CALC_OPERATOR_GROUPED : CALC_OPERATOR_HEAD;
    unsigned repeated = matrix->repeated_by;
    bool shared_expert = matrix->shared_expert;
    calc_operator *o = calc_build_matrix(b, name, kind, repeated, rows, inner, columns, copies);
    o->adapter = true;
    o->pairs = pairs * (grouped ? copies : 1);
    o->expert = grouped;
    o->shared_expert = shared_expert;
    return o;
}

/* Results of lora_B are added to the output, and gradients of lora_A's input to that of the matrix.
 */
static void add_sums(const calc_build *b, calc_operator *down, calc_operator *up)
{
    double e = b->shape->element_bytes;
    up->bytes[CALC_PASS_FW] += 3 * e * up->outputs * b->traffic;
    up->launches[CALC_PASS_FW] += 1;
    down->bytes[CALC_PASS_AGRAD] += 3 * e * down->inputs * b->traffic;
    down->launches[CALC_PASS_AGRAD] += 1;
}

/* Bytes of a number in the arithmetic of adapters: as wide as their weights, unless these are
 * sharded and gathered in datatype (PyTorch, MixedPrecisionPolicy). */
static double computed_bytes(const calc_build *b)
{
    double e = b->shape->element_bytes;
    bool gathered = b->strategy->zero_stage >= 2;
    return gathered ? e : calc_max(e, b->shape->weight_bytes);
}

/* What both factors keep: their inputs. That of lora_A is the matrix's own, which keeps it, unless
 * it is cast (PEFT, autocast_adapter_dtype), or dropout makes a copy for each pair, with its mask;
 * then nobody needs the other one. */
static void keep_inputs(const calc_build *b, calc_operator *matrix, double times,
                        calc_operator *down, calc_operator *up)
{
    double e = b->shape->element_bytes;
    double wide = computed_bytes(b);
    bool dropout = b->strategy->lora_dropout && b->training;
    calc_build_keep(up, up->inputs * wide, matrix->dropped_by);
    if (!dropout && wide <= e) {
        matrix->adapted = true;
        return;
    }
    double copied = times * down->inputs;
    calc_build_keep(down, copied * (wide + (dropout ? 1 : 0)), matrix->dropped_by);
    for (int pass = CALC_PASS_FW; pass <= CALC_PASS_AGRAD; pass++) {
        down->bytes[pass] += copied * (e + wide + (dropout ? 1 : 0));
        down->launches[pass] += times * (1 + (dropout && wide > e));
    }
}

/* Magnitudes of the outputs, and the norms of the columns of the sum of the matrix and the product
 * of both factors, which is made for them in single precision, by way of a unit matrix; the results
 * of both are scaled, and kept for that (PEFT, tuners/lora/dora.py). */
static void add_magnitudes(const calc_build *b, const calc_operator *matrix, double inner,
                           double width, calc_operator *up)
{
    if (!b->strategy->dora) {
        return;
    }
    up->weights += width;
    if (!b->training) { /* the weights do not change: magnitudes are one factor */
        return;
    }
    double elements = inner * width;
    double e = b->shape->element_bytes;
    double scaled_bytes = up->outputs * (e + computed_bytes(b));
    up->flop[CALC_PASS_FW] += 2 * (double)b->strategy->lora_rank * (elements + inner * inner);
    up->bytes[CALC_PASS_FW] += (e + 4 * 4) * elements + 2 * scaled_bytes * b->traffic;
    up->bytes[CALC_PASS_AGRAD] += 2 * scaled_bytes * b->traffic;
    up->launches[CALC_PASS_FW] += 6;
    up->launches[CALC_PASS_AGRAD] += 4;
    calc_build_keep(up, scaled_bytes, matrix->dropped_by);
}

void calc_adapter_add(calc_build *b, size_t at, const char *const name[2],
                      const calc_adapter_product *products, int count)
{
    const calc_strategy *s = b->strategy;
    pairs_sum p = pairs_of(s, products, count);
    calc_operator *matrix = &b->out[at];
    if (p.count == 0 || matrix->flop[CALC_PASS_FW] <= 0) {
        return;
    }
    double rank = (double)s->lora_rank;
    double e = b->shape->element_bytes;
    double rows = 2 * matrix->inputs * matrix->outputs / matrix->flop[CALC_PASS_FW];
    double inner = matrix->inputs / rows;
    double ranks = b->shape->tensor_par;
    /* Engines have all of lora_A, or of lora_B where inputs are split, on every rank: nothing more
     * is sent (vLLM, lora/layers, without fully_sharded_loras). */
    bool columns = matrix->split == CALC_SPLIT_COLUMNS && ranks > 1 && b->training;
    bool inside = matrix->split == CALC_SPLIT_INNER && ranks > 1 && b->training;
    unsigned repeated = matrix->repeated_by;
    calc_operator *down = add_factor(b, matrix, name[0], p.count, rows, inner,
                                     p.count * rank / (columns ? ranks : 1), 1, false);
    if (columns) {
        calc_build_collective(b, "lora_A gather", repeated, CALC_IN_TENSOR,
                              rows * p.count * rank * e, CALC_OP_ALL_GATHER,
                              CALC_OP_REDUCE_SCATTER);
    } else if (inside) {
        calc_build_collective(b, "lora_A reduction", repeated, CALC_IN_TENSOR,
                              rows * p.count * rank * e, CALC_OP_ALL_REDUCE, CALC_OP_NONE);
    }
    double width = p.width / (inside ? ranks : 1);
    calc_operator *up = add_factor(b, matrix, name[1], p.count, rows, rank, width, 1, false);
    up->inputs = rows * p.count * rank;
    if (inside) {
        calc_build_collective(b, "lora_B gather", repeated, CALC_IN_TENSOR, rows * p.width * e,
                              CALC_OP_ALL_GATHER, CALC_OP_REDUCE_SCATTER);
    }
    add_sums(b, down, up);
    keep_inputs(b, matrix, p.count, down, up);
    add_magnitudes(b, matrix, inner, width, up);
}

void calc_adapter_add_experts(calc_build *b, size_t at, const char *const name[2],
                              const calc_adapter_product *products, int count, bool up,
                              double local)
{
    const calc_strategy *s = b->strategy;
    calc_operator *matrix = &b->out[at];
    pairs_sum p = pairs_of(s, products, count);
    calc_lora_experts way = s->lora_experts;
    if (p.count == 0 || way == CALC_LORA_EXPERTS_NONE || matrix->flop[CALC_PASS_FW] <= 0) {
        return;
    }
    double rank = (double)s->lora_rank;
    double rows = 2 * matrix->inputs * matrix->outputs / matrix->flop[CALC_PASS_FW];
    double inner = matrix->inputs / rows;
    bool each = way == CALC_LORA_EXPERTS_EACH;
    bool outer = way == CALC_LORA_EXPERTS_OUTER;
    bool each_down = each || (outer && !up);
    bool each_up = each || (outer && up);
    calc_operator *a = add_factor(b, matrix, name[0], p.count, rows, inner, p.count * rank,
                                  each_down ? local : 1, each_down);
    calc_operator *o =
        add_factor(b, matrix, name[1], p.count, rows, rank, p.width, each_up ? local : 1, each_up);
    o->inputs = rows * p.count * rank;
    add_sums(b, a, o);
    keep_inputs(b, matrix, p.count, a, o);
    add_magnitudes(b, matrix, inner, p.width * (each ? local : 1), o);
}

/* ---- Frozen weights -------------------------------------------------------------------------- */

double calc_adapter_untouched(const calc_shape *shape, const calc_strategy *s)
{
    if (s->trained == CALC_TRAINED_HEAD) {
        return 1;
    }
    bool some = calc_adapter_freezes(s, true) && s->trained_blocks > 0 && shape->blocks > 0;
    return some ? calc_max(0, 1 - (double)s->trained_blocks / shape->blocks) : 0;
}

/* Bytes of a frozen weight. Matrices of blocks alone are narrowed; all may be wider. */
static double frozen_bytes(const calc_shape *shape, const calc_strategy *s, const calc_operator *o)
{
    bool matrix = calc_operator_narrowed(o);
    double bytes = calc_format_frozen_bytes(s->frozen_datatype, shape->element_bytes);
    return matrix ? bytes : calc_max(bytes, shape->element_bytes);
}

/* Weights that no engine multiplies are widened before each pass: read, and written. */
static void widen(const calc_shape *shape, const calc_strategy *s, calc_operator *o)
{
    if (!calc_operator_narrowed(o) || !calc_format_is_widened(s)) {
        return;
    }
    double narrow = calc_format_frozen_bytes(s->frozen_datatype, shape->element_bytes);
    for (int pass = CALC_PASS_FW; pass <= CALC_PASS_AGRAD; pass++) {
        o->bytes[pass] += o->weights * (narrow + shape->element_bytes);
        o->launches[pass] += 1;
    }
    o->passing_bytes += o->weights * shape->element_bytes;
}

/* No gradients of its weights, and no input kept for them. */
static void freeze(const calc_shape *shape, const calc_strategy *s, calc_operator *o)
{
    bool matrix = calc_operator_narrowed(o) || o->kind == CALC_OPERATOR_HEAD;
    widen(shape, s, o);
    o->frozen_bytes = o->weights * frozen_bytes(shape, s, o);
    o->weights = 0;
    if (o->kind == CALC_OPERATOR_COLLECTIVE) {
        return;
    }
    o->flop[CALC_PASS_WGRAD] = o->bytes[CALC_PASS_WGRAD] = o->launches[CALC_PASS_WGRAD] = 0;
    if (matrix && !o->adapted && !o->shares_input) {
        o->working_bytes -= o->kept_bytes;
        o->kept_bytes = o->dropped_bytes = o->copied_bytes = 0;
    }
}

void calc_adapter_freeze(const calc_shape *shape, const calc_strategy *s, bool training,
                         calc_frozen_list list, calc_operator *operators, size_t first, size_t end)
{
    bool encodes = list == CALC_FROZEN_ENCODER || list == CALC_FROZEN_PROJECTOR;
    bool spared =
        training &&
        ((list == CALC_FROZEN_ENCODER && s->encoder_trained != CALC_ENCODER_TRAINED_ALL) ||
         (list == CALC_FROZEN_PROJECTOR && s->encoder_trained == CALC_ENCODER_TRAINED_NONE));
    if (!calc_adapter_freezes(s, training) && !spared) {
        return;
    }
    double untouched = !training                                  ? 0
                       : list == CALC_FROZEN_BLOCK                ? calc_adapter_untouched(shape, s)
                       : list == CALC_FROZEN_EMBEDDING || encodes ? 1
                                                                  : 0;
    bool head_only = training && s->trained == CALC_TRAINED_HEAD;
    bool blocks = training && s->trained == CALC_TRAINED_BLOCKS;
    for (size_t i = first; i < end; i++) {
        calc_operator *o = &operators[i];
        bool trained = o->adapter || (list == CALC_FROZEN_BLOCK && blocks) ||
                       (list == CALC_FROZEN_HEAD && head_only && o->kind == CALC_OPERATOR_HEAD);
        o->untouched = untouched;
        if (trained) {
            o->frozen_bytes = untouched * o->weights * frozen_bytes(shape, s, o);
            o->weights *= 1 - untouched;
        } else {
            freeze(shape, s, o);
        }
        if (list == CALC_FROZEN_HEAD && head_only && o->weights + o->frozen_bytes > 0) {
            /* No gradient passes through the head. */
            o->flop[CALC_PASS_AGRAD] = o->bytes[CALC_PASS_AGRAD] = o->launches[CALC_PASS_AGRAD] = 0;
        }
    }
}

double calc_adapter_launches(const calc_operator *operators, size_t count)
{
    double now = 0;
    double usual = 0;
    for (size_t i = 0; i < count; i++) {
        const calc_operator *o = &operators[i];
        double share = calc_operator_share(o);
        double back = o->launches[CALC_PASS_AGRAD] + o->launches[CALC_PASS_WGRAD];
        double matrix = calc_operator_narrowed(o) || o->kind == CALC_OPERATOR_HEAD;
        now += share * (o->launches[CALC_PASS_FW] + (1 - o->untouched) * back);
        double loops = calc_max(1, o->loops);
        usual += o->adapter
                     ? 0
                     : share * ((o->launches[CALC_PASS_FW] + o->launches[CALC_PASS_AGRAD]) / loops +
                                matrix * 1);
    }
    return usual > 0 ? now / usual : 1;
}
