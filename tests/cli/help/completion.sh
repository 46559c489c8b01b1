"$CALC" help --completion bash
