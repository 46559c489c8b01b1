/* Small valid documents for the tests of reading and writing. */
#ifndef CALC_TESTS_DOCUMENTS_H
#define CALC_TESTS_DOCUMENTS_H

#define APP_TEXT                                                                                   \
    "{\n  \"hidden\": 12288,\n  \"feedforward\": 49152,\n  \"seq_size\": 2048,\n"                  \
    "  \"attn_heads\": 96,\n  \"attn_size\": 128,\n  \"num_blocks\": 96\n}"

#define SYSTEM_TEXT                                                                                \
    "{\n  \"matrix\": {\n    \"float16\": {\n      \"tflops\": 312,\n"                             \
    "      \"gflops_efficiency\": [[128, 0.95], [0, 0.1]]\n    }\n  },\n"                          \
    "  \"vector\": {\n    \"float16\": {\n      \"tflops\": 78,\n"                                 \
    "      \"gflops_efficiency\": [[0, 0.5]]\n    }\n  },\n"                                       \
    "  \"mem1\": {\n    \"GiB\": 80,\n    \"GBps\": 2048,\n    \"MB_efficiency\": [[0, 0.9]]\n"    \
    "  },\n"                                                                                       \
    "  \"mem2\": {\n    \"GiB\": 512,\n    \"GBps\": 32,\n    \"MB_efficiency\": [[0, 0.9]]\n"     \
    "  },\n"                                                                                       \
    "  \"processing_mode\": \"no_overlap\",\n  \"networks\": [\n    {\n"                           \
    "      \"bandwidth\": 300,\n      \"efficiency\": 0.65,\n      \"size\": 8,\n"                 \
    "      \"latency\": 1e-05,\n      \"ops\": {\n        \"p2p\": [1, null],\n"                   \
    "        \"reduce_scatter\": [1.5, -1],\n        \"all_gather\": [1.5, -1],\n"                 \
    "        \"all_reduce\": [2, -1]\n      },\n      \"must_be_filled\": true,\n"                 \
    "      \"processor_usage\": 0.15\n    }\n  ]\n}"

#define EXEC_TEXT                                                                                  \
    "{\n  \"num_procs\": 3072,\n  \"tensor_par\": 4,\n  \"pipeline_par\": 64,\n"                   \
    "  \"data_par\": 12,\n  \"tensor_par_net\": 0,\n  \"pipeline_par_net\": 0,\n"                  \
    "  \"data_par_net\": 0,\n  \"batch_size\": 3072,\n  \"microbatch_size\": 4,\n"                 \
    "  \"datatype\": \"float16\",\n  \"fused_activation\": true,\n"                                \
    "  \"attention_type\": \"multihead\",\n  \"activation_recompute\": \"full\",\n"                \
    "  \"pipeline_interleaving\": 1,\n  \"optimizer_sharding\": true,\n"                           \
    "  \"tensor_par_comm_type\": \"rs_ag\",\n  \"tensor_par_overlap\": \"none\",\n"                \
    "  \"seq_par_ag_redo\": false,\n  \"data_par_overlap\": false,\n"                              \
    "  \"weight_offload\": false,\n  \"activations_offload\": false,\n"                            \
    "  \"optimizer_offload\": false,\n  \"training\": true\n}"

#endif
