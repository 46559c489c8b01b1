/* NeMo 2: a recipe as YAML. Its parts are those of Megatron-Bridge by other names. */
#include "formats/framework.h"

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(NUMBER, NODE_PROCS, "trainer.devices")
    CALC_ROW(NUMBER, NODES, "trainer.num_nodes")
    CALC_ROW(WORDS, PRECISION, "trainer.plugins.precision",
        .words = "bf16-mixed=bfloat16 bf16=bfloat16 16-mixed=float16 16=float16 32=float32 32-true=float32")
    CALC_ROW(NUMBER, SEQ, "data.seq_length")
    CALC_ROW_DEFAULT(DIST_OPT, 1)
    CALC_ROW_UNREAD(COST, "model.config.lora* peft.* model_transform.*", .assumed = "the layout is of training all weights")
    CALC_ROW_UNREAD(COST, "trainer.accumulate_grad_batches=1 trainer.callbacks.* trainer.strategy.fsdp")
    CALC_ROW_UNREAD(HARMLESS,
        "*._target_ _target_ *._partial_ _partial_ *._args_ trainer.max_* trainer.val_* trainer.limit_* trainer.log_* trainer.accelerator "
        "trainer.logger trainer.logger.* trainer.num_sanity_* trainer.use_distributed_sampler trainer.enable_* trainer.check_* "
        "trainer.strategy.ckpt_* trainer.strategy.pipeline_dtype* trainer.strategy.gradient_as_bucket_view trainer.strategy.save_* "
        "trainer.plugins.* data.* log.* resume.* optim.* fn.* tokenizer.* model.tokenizer.* model.tokenizer trainer.callbacks")
};

/* What NeMo 2 has not is not Megatron-Bridge's key of the same name. */
const calc_framework calc_framework_nemo2 = {.name = "nemo2", .title = "NeMo 2", .version = "2.4.0, recipe",
    .launch = "nemo llm pretrain --yaml this file", .syntax = CALC_SYNTAX_YAML, .has_model = true,
    .renamed = "trainer.strategy.ddp.=ddp. trainer.strategy.=model. model.config.=model. data.=train. optim.config.=optimizer. "
        "trainer.plugins.=mixed_precision. model.=- train.=-",
    CALC_FRAMEWORK_ROWS(rows), CALC_FRAMEWORK_BASES(&calc_framework_bridge)};
/* clang-format on */
