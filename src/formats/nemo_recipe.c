/* NeMo 2: a recipe as YAML. Its parts are those of Megatron-Bridge by other names. */
#include "formats/framework.h"

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(NUMBER, NODE_PROCS, "trainer.devices")
    CALC_ROW(NUMBER, NODES, "trainer.num_nodes")
    CALC_ROW(WORDS, PRECISION, "trainer.plugins.precision",
        .words = "bf16-mixed=bfloat16 bf16=bfloat16 16-mixed=float16 16=float16 32=float32 32-true=float32")
    CALC_ROW(NUMBER, SEQ, "data.seq_length")
    CALC_ROW(WORDS, LORA_CLASS, "peft._target_",
        .words = "nemo.collections.llm.peft.LoRA=1 nemo.collections.llm.peft.lora.LoRA=1 nemo.collections.llm.peft.canonical_lora.CanonicalLoRA=2 "
                 "nemo.collections.llm.peft.CanonicalLoRA=2 nemo.collections.llm.peft.dora.DoRA=3 nemo.collections.llm.peft.DoRA=3")
    CALC_ROW_DEFAULT(DIST_OPT, 1)
};

/* What NeMo 2 has not is not Megatron-Bridge's key of the same name. */
const calc_framework calc_framework_nemo2 = {.name = "nemo2", .title = "NeMo 2", .version = "2.4.0, recipe",
    .launch = "nemo llm pretrain --yaml this file", .syntax = CALC_SYNTAX_YAML, .has_model = true,
    .renamed = "trainer.strategy.ddp.=ddp. trainer.strategy.=model. model.config.=model. data.=train. optim.config.=optimizer. "
        "trainer.plugins.=mixed_precision. model.=- train.=-",
    CALC_FRAMEWORK_ROWS(rows, nemo_recipe), CALC_FRAMEWORK_BASES(&calc_framework_bridge)};
/* clang-format on */
