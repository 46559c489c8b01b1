#include "cli/run/run_outcome.h"

#include <math.h>
#include <stdio.h>

#include "base/buffer.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "model/operators/encoder.h"
#include "model/operators/parameters.h"
#include "model/stages/stages.h"
#include "spec/field.h"
#include "spec/format.h"
#include "spec/serving_engine.h"
#include "spec/stack.h"
#include "spec/stage_list.h"
#include "spec/value_text.h"

/* Text of an enumerated field of the execution. */
static const char *choice(const calc_exec *exec, const char *key)
{
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_EXEC), key);
    return field->choices[*(const int *)((const char *)exec + field->offset)];
}

/* ... and of a set of choices, behind `before`; nothing where it has none. */
static void write_set(calc_output *out, const char *before, const calc_exec *exec, const char *key)
{
    char words[CALC_CHOICE_SET_SIZE];
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_EXEC), key);
    int64_t set = (int64_t)calc_member_number(field, (const char *)exec + field->offset);
    if (set) {
        calc_output_printf(out, "%s%s", before, calc_choice_set_text(field->choices, set, words));
    }
}

/* Names the networks that a group spans: "NVLink: 8 procs, 450 GB/s" or, beyond one node,
 * "NVLink, network 1: 8 in a node"; "networks 0 and 1" where neither has a name. "-" for one rank.
 * With stages on several systems, it names the networks of the first system, without their numbers.
 */
static void network_text(const calc_inputs *in, const calc_group *group, char text[64])
{
    const calc_stage_list *list = &in->exec.stages;
    const calc_system *system = list->count > 0
                                    ? calc_stage_list_system(&in->system, &in->exec, &list->run[0])
                                    : &in->system;
    char name[2][16];
    int64_t top = calc_collective_top_network(system, group);
    double inside = calc_collective_inner_ranks(system, group);
    const calc_network *net[2] = {&system->networks[0], &system->networks[top]};
    bool named = false;
    for (int i = 0; i < 2; i++) {
        snprintf(name[i], sizeof name[i], "network %jd", i == 0 ? 0 : top);
        if (net[i]->kind != CALC_NETWORK_KIND_UNNAMED) {
            snprintf(name[i], sizeof name[i], "%s", calc_network_kind_names[net[i]->kind]);
            named = true;
        }
    }
    if (group->ranks <= 1) {
        snprintf(text, 64, "-");
    } else if (group->stride > 0 && top > 0 && inside > 1) {
        const char *number = calc_human_integer(inside);
        if (named) {
            snprintf(text, 64, "%.15s%s %.15s: %.12s in a node", name[0], top > 1 ? " to" : ",",
                     name[1], number);
        } else {
            snprintf(text, 64, "networks 0 %s %jd: %.12s in a node", top > 1 ? "to" : "and", top,
                     number);
        }
    } else if (list->chips > 0) {
        snprintf(text, 64, "network %jd of each system", top);
    } else {
        snprintf(text, 64, "%.15s: %.14s procs, %.14s GB/s", name[1],
                 calc_human_integer((double)net[1]->size),
                 calc_number_text(net[1]->bytes_per_s, 1e9, CALC_HUMAN_BUFFER));
    }
}

/* One dimension of parallelism: its size, its networks and its method. */
static void write_dimension(calc_output *out, const calc_run_outcome *r, const char *label,
                            double ranks, const calc_group *group, const char *how)
{
    char text[64];
    network_text(&r->inputs, group, text);
    calc_output_printf(out, "  %-9s%9s  %-34s %s\n", label, calc_human_integer(ranks),
                       ranks > 1 ? text : "-", how);
}

/* Of a line without ranks: the label, before the text. */
#define NOTE "  %-20s"

static void write_context(calc_output *out, const calc_run_outcome *r, const calc_groups *groups)
{
    const calc_exec *e = &r->inputs.exec;
    char how[CALC_HUMAN_MAX];
    bool halves =
        r->inputs.app.causal && e->strategy.context_par_type != CALC_CONTEXT_PAR_TYPE_ULYSSES;
    if (e->strategy.context_par > 1) {
        snprintf(how, sizeof how, "%s%s%s", choice(e, "context_par_type"), halves ? ", " : "",
                 halves ? choice(e, "context_par_balance") : "");
        write_dimension(out, r, "context", (double)e->strategy.context_par, &groups->context, how);
    }
}

static void write_experts(calc_output *out, const calc_run_outcome *r, const calc_groups *groups)
{
    const calc_exec *e = &r->inputs.exec;
    double experts = (double)r->inputs.app.num_experts;
    double copies = (double)e->inference.redundant_experts;
    if (experts == 0) {
        return;
    }
    write_dimension(out, r, "expert", groups->expert.ranks, &groups->expert,
                    groups->expert.ranks > 1 ? choice(e, "dispatch_type") : "all on every rank");
    if (groups->expert_tensor.ranks > 1) {
        write_dimension(out, r, "in expert", groups->expert_tensor.ranks, &groups->expert_tensor,
                        "tensor parallelism");
    }
    write_dimension(out, r, "replicas", groups->expert_data.ranks, &groups->expert_data,
                    "of every expert");
    calc_output_printf(out, NOTE "%s of %s on a rank", "experts",
                       calc_human_integer((experts + copies) / groups->expert.ranks),
                       calc_human_integer(experts));
    if (groups->expert.ranks > 1) {
        calc_output_printf(out, ", overlap %s, sent in %s", choice(e, "expert_par_overlap"),
                           calc_datatype_names[calc_format_datatype(e->strategy.dispatch_datatype,
                                                                    e->strategy.datatype)]);
    }
    if (e->strategy.capacity_factor > 0) {
        calc_output_printf(out, ", capacity %.4g", e->strategy.capacity_factor);
    }
    calc_output_text(out, "\n");
}

/* Schedule and balance: "1f1b, messages overlapped; balance ends: 7, 8, 7 blocks" gives the blocks
 * of the first, the middle and the last stage; equal neighbours are given once. */
static void write_schedule(calc_output *out, const calc_run_outcome *r)
{
    const calc_exec *e = &r->inputs.exec;
    if (e->pipeline_par == 1) {
        return;
    }
    calc_shape shape = calc_shape_of(&r->inputs.app, &e->strategy, e->microbatch_size, e->seq_size);
    calc_stages stages = calc_stages_split(&shape, e, CALC_COMPAT_NONE);
    calc_output_printf(out, NOTE "%s%s", "schedule", choice(e, "pipeline_schedule"),
                       e->strategy.pipeline_par_overlap ? ", messages overlapped" : "");
    bool even = e->stages.count == 0;
    if (even) {
        calc_output_printf(out, "; balance %s:", choice(e, "pipeline_balance"));
    }
    double before = -1;
    for (size_t i = 0; i < stages.count && even; i++) {
        double blocks = stages.item[i].dense + stages.item[i].moe;
        if (blocks != before) {
            calc_output_printf(out, "%s %.4g", i > 0 ? "," : "", blocks);
        }
        before = blocks;
    }
    calc_output_text(out, even ? " blocks\n" : "\n");
}

/* Stages in order: "7x11" means seven stages of 11 blocks. */
static void write_stages(calc_output *out, const calc_run_outcome *r)
{
    const calc_exec *e = &r->inputs.exec;
    char text[CALC_STAGE_WORDS_SIZE];
    if (e->stages.count == 0) {
        return;
    }
    calc_output_printf(out, NOTE "blocks %s\n", "stages", calc_stage_words_blocks(e, text));
    if (e->stages.chips > 0) {
        const char *name = r->inputs.input[CALC_KIND_SYSTEM].name;
        calc_output_printf(out, NOTE "on %s\n", "", calc_stage_words_chips(e, name, text));
    }
}

/* Processors of the prefill pool, if prefill and decoding run on different ones. */
static void write_prefill_pool(calc_output *out, const calc_run_outcome *r)
{
    const calc_exec *e = &r->inputs.exec;
    const char *name = e->inference.prefill_system.name;
    calc_exec pool;
    if (e->inference.phase != CALC_INFERENCE_PHASE_DISAGGREGATED) {
        return;
    }
    calc_prefill_pool_of(e, &pool);
    const calc_strategy *s = &pool.strategy;
    calc_output_printf(out, "  %-9s%9s  %s of tensor %s", "prefill",
                       calc_human_integer((double)pool.num_procs),
                       calc_human_counted((double)s->data_par, "replica"),
                       calc_human_integer((double)s->tensor_par));
    if (s->expert_par > 1) {
        calc_output_printf(out, ", expert %s", calc_human_integer((double)s->expert_par));
    }
    calc_output_printf(out, "%s%s\n", *name ? ", on " : "", name);
}

/* The kinds of layers that a model lists: "36x gdn+moe, 12x full+moe". */
static void write_stack(calc_output *out, const calc_stack *stack)
{
    char name[128];
    const char *glue = "";
    calc_output_printf(out, NOTE, "layers");
    for (int i = 0; i < stack->kinds; i++) {
        if (stack->kind[i].count > 0) {
            calc_output_printf(out, "%s%dx %s", glue, stack->kind[i].count,
                               calc_stack_kind_text(stack, i, name, sizeof name));
            glue = ", ";
        }
    }
    calc_output_text(out, "\n");
}

static void write_attention(calc_output *out, const calc_run_outcome *r)
{
    if (r->inputs.app.stack.layers > 0) {
        write_stack(out, &r->inputs.app.stack);
        return;
    }
    const calc_app *a = &r->inputs.app;
    const calc_exec *e = &r->inputs.exec;
    calc_shape s = calc_shape_of(a, &e->strategy, e->microbatch_size, e->seq_size);
    bool generic = s.flash && e->strategy.attention_kernel == CALC_ATTENTION_KERNEL_GENERIC;
    calc_output_printf(out, NOTE "%s", "attention", calc_human_counted(s.heads, "head"));
    if (s.latent) {
        calc_output_printf(out, ", latents of %s and %s", calc_human_integer(s.q_rank),
                           calc_human_integer(s.kv_rank));
    } else if (s.kv_heads != s.heads) {
        calc_output_printf(out, ", %s key-value", calc_human_integer(s.kv_heads));
    }
    calc_output_printf(out, ", %s%s, %s", s.flash ? "flash" : "stored scores",
                       generic ? " (generic)" : "", s.causal ? "causal" : "full square");
    if (s.window > 0) {
        calc_output_printf(out, ", window %s", calc_human_integer(s.window));
    }
    calc_output_text(out, "\n");
}

/* Number formats; for fields left out, the format that applies instead. */
static void write_numbers(calc_output *out, const calc_run_outcome *r)
{
    const calc_exec *e = &r->inputs.exec;
    calc_shape s = calc_shape_of(&r->inputs.app, &e->strategy, e->microbatch_size, e->seq_size);
    calc_state_bytes b = calc_state_bytes_of(&e->strategy, &s, &r->inputs.system.chip, e->training);
    bool narrow = s.matrix_bytes < s.element_bytes;
    calc_output_printf(out, NOTE "matrices %s%s, stored inputs %s", "numbers",
                       calc_datatype_names[calc_format_datatype(e->strategy.matrix_datatype,
                                                                e->strategy.datatype)],
                       !narrow                                     ? ""
                       : e->strategy.scaling == CALC_SCALING_BLOCK ? " with block scales"
                       : e->strategy.scaling == CALC_SCALING_ROW   ? " with row scales"
                                                                   : "",
                       calc_datatype_names[calc_format_datatype(calc_format_stored(&e->strategy),
                                                                e->strategy.datatype)]);
    const calc_format stored[] = {e->strategy.weight_datatype, e->inference.kv_datatype};
    for (int i = 0; i < 2 && !e->training; i++) {
        calc_datatype as = calc_format_datatype(stored[i], e->strategy.datatype);
        if (as != e->strategy.datatype) {
            calc_output_printf(out, ", %s %s", i ? "cache" : "weights", calc_datatype_names[as]);
        }
    }
    calc_output_text(out, "\n");
    if (e->training) {
        calc_output_printf(out, NOTE "bytes: weight %.4g", "", b.weight);
        if (b.narrowed != 0) {
            calc_output_printf(out, " (of narrow matrices %.4g)", b.weight + b.narrowed);
        }
        calc_output_printf(out, ", gradient %.4g (sent %.4g), master %.4g, moments %.4g x %.4g\n",
                           b.grad, b.reduced, b.master, b.moments, b.moment);
    }
}

/* What is trained, where a part of the weights is frozen. */
static void write_trained(calc_output *out, const calc_run_outcome *r)
{
    const calc_strategy *s = &r->inputs.exec.strategy;
    if (s->trained == CALC_TRAINED_ALL) {
        return;
    }
    calc_parameters all;
    calc_count_parameters(&r->inputs.app, &all);
    double trained = calc_parameters_trained(&r->inputs.app, &r->inputs.exec);
    calc_output_printf(out, NOTE "%s", "trained", choice(&r->inputs.exec, "trained"));
    if (s->trained == CALC_TRAINED_ADAPTERS) {
        calc_output_printf(out, " of rank %jd", s->lora_rank);
        write_set(out, " on ", &r->inputs.exec, "lora_modules");
    }
    if (s->trained_blocks > 0) {
        calc_output_printf(out, "%s the last %jd",
                           s->trained == CALC_TRAINED_ADAPTERS ? " in" : ":", s->trained_blocks);
    }
    calc_output_printf(out, "\n" NOTE "%s parameters (%.3g %%); frozen ones in %s\n", "",
                       calc_human_count(trained), 100 * trained / (all.total + all.mtp),
                       s->frozen_datatype == CALC_FROZEN_DATATYPE_AUTO
                           ? calc_datatype_names[s->datatype]
                           : choice(&r->inputs.exec, "frozen_datatype"));
}

/* The encoder of images, and how much of it is trained. */
static void write_images(calc_output *out, const calc_run_outcome *r)
{
    const calc_encoder *e = &r->inputs.app.encoder;
    const calc_strategy *s = &r->inputs.exec.strategy;
    calc_parameters all;
    if (e->hidden == 0) {
        return;
    }
    calc_count_parameters(&r->inputs.app, &all);
    calc_output_printf(
        out, NOTE "encoder of %s parameters%s", "images", calc_human_count(all.encoder),
        !r->inputs.exec.training ? ""
        : s->trained != CALC_TRAINED_ALL || s->encoder_trained == CALC_ENCODER_TRAINED_NONE
            ? ", frozen"
        : s->encoder_trained == CALC_ENCODER_TRAINED_ALL ? ", trained"
                                                         : ", frozen but for its projector");
    if (s->images_per_sequence > 0) {
        calc_output_printf(out, "; %.6g in a sequence, of %s patches", s->images_per_sequence,
                           calc_human_integer(calc_encoder_patches(e, s)));
    } else if (r->inputs.exec.training) {
        calc_output_text(out, "; no images: images_per_sequence says how many");
    }
    calc_output_text(out, "\n");
}

static void write_sharding(calc_output *out, const calc_run_outcome *r)
{
    static const char *const what[] = {"nothing sharded", "optimizer sharded (ZeRO 1)",
                                       "optimizer, gradients sharded (ZeRO 2)",
                                       "all state sharded (ZeRO 3)"};
    const calc_exec *e = &r->inputs.exec;
    char words[CALC_STAGE_WORDS_SIZE];
    const bool staged = e->stages.count > 0, layered = e->layers.count > 0;
    calc_output_printf(out, NOTE "recompute %.240s", "memory",
                       staged    ? calc_stage_words_recompute(e, words)
                       : layered ? "and sharding by layer"
                                 : choice(e, "activation_recompute"));
    if (!staged && !layered) {
        write_set(out, " ", e, "recompute_modules");
    }
    if (e->recompute_blocks > 0 && !staged) {
        calc_output_printf(out, " in %s of a stage",
                           calc_human_counted((double)e->recompute_blocks, "block"));
    }
    write_set(out, ", offload ", e, "offload_modules");
    calc_output_printf(out, "\n" NOTE "%s", "", layered ? "" : what[calc_zero_stage(&e->strategy)]);
    if (e->strategy.fsdp_par > 0) {
        calc_output_printf(out, " over %s ranks", calc_human_integer((double)e->strategy.fsdp_par));
    }
    bool megatron = e->strategy.memory_model == CALC_MEMORY_MODEL_MEGATRON;
    calc_output_printf(out, "%s%s count\n", layered && e->strategy.fsdp_par == 0 ? "" : "; ",
                       megatron ? "Megatron-LM's" : "Calculon's");
}

/* Techniques by which the layout saves memory. */
static void write_saving(calc_output *out, const calc_run_outcome *r)
{
    const calc_exec *e = &r->inputs.exec;
    calc_output_printf(out, NOTE "recompute %s%s", "memory", choice(e, "activation_recompute"),
                       e->strategy.optimizer_sharding ? ", optimizer sharded" : "");
    const struct {
        bool offloaded;
        const char *what;
    } parts[] = {{e->strategy.weight_offload, "weights"},
                 {e->strategy.activations_offload, "activations"},
                 {e->strategy.optimizer_offload, "optimizer"}};
    const char *glue = "\n  offload             ";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].offloaded) {
            calc_output_printf(out, "%s%s", glue, parts[i].what);
            glue = ", ";
        }
    }
    calc_output_text(out, "\n");
}

static void write_batch(calc_output *out, const calc_run_outcome *r)
{
    const calc_exec *e = &r->inputs.exec;
    double microbatches = r->stats.num_microbatches;
    if (e->inference.phase != CALC_INFERENCE_PHASE_NONE) {
        double batch = (double)(e->inference.batch > 0 ? e->inference.batch : e->batch_size);
        calc_output_printf(out, "  %-9s%9s  %s per replica\n", "batch", calc_human_integer(batch),
                           calc_human_counted(batch / (double)e->strategy.data_par, "request"));
        return;
    }
    calc_output_printf(out, "  %-9s%9s  %s micro-batch%s of %jd per replica\n", "batch",
                       calc_human_integer((double)e->batch_size), calc_human_integer(microbatches),
                       microbatches == 1 ? "" : "es", e->microbatch_size);
}

void calc_report_layout_write(calc_output *out, const calc_run_outcome *r)
{
    const calc_exec *e = &r->inputs.exec;
    calc_groups groups = calc_groups_of(e, &e->strategy);
    char how[CALC_HUMAN_MAX];
    calc_report_title(out, &r->paint,
                      CALC_TEXT(300, "Layout: %.250s", r->inputs.input[CALC_KIND_EXEC].name));
    snprintf(how, sizeof how, "%s, overlap %s", choice(e, "tensor_par_comm_type"),
             choice(e, "tensor_par_overlap"));
    write_dimension(out, r, "tensor", (double)e->strategy.tensor_par, &groups.tensor, how);
    if (r->compat == CALC_COMPAT_NONE) {
        write_context(out, r, &groups);
        write_experts(out, r, &groups);
    }
    double blocks = r->stats.blocks_per_proc;
    snprintf(how, sizeof how, "%.60s in %.60s",
             blocks == floor(blocks) ? calc_human_counted(blocks, "block")
                                     : CALC_TEXT(CALC_HUMAN_MAX, "%.4g blocks", blocks),
             calc_human_counted((double)e->pipeline_interleaving, "chunk"));
    write_dimension(out, r, "pipeline", (double)e->pipeline_par, &groups.pipeline, how);
    write_dimension(out, r, "data", (double)e->strategy.data_par, &groups.dense_data,
                    e->strategy.data_par_overlap ? "overlapped" : "overlap none");
    write_batch(out, r);
    if (r->compat != CALC_COMPAT_NONE) {
        write_saving(out, r);
        return;
    }
    if (r->inputs.exec.software[0]) {
        calc_output_printf(out, NOTE "%s\n", "software", r->inputs.exec.software);
    }
    write_prefill_pool(out, r);
    write_schedule(out, r);
    write_stages(out, r);
    char layers[CALC_LAYER_WORDS_SIZE];
    if (e->layers.count > 0) {
        calc_output_printf(out, NOTE "%s\n", "layers", calc_layer_words(e, layers));
        calc_output_printf(out, NOTE "ends %s\n", "", calc_layer_words_ends(e, layers));
    }
    write_attention(out, r);
    write_numbers(out, r);
    write_trained(out, r);
    write_images(out, r);
    write_sharding(out, r);
}
