"$CALC" show explain num_shared_experts
"$CALC" show explain exe.matrix_dtype
