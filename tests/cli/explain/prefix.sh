"$CALC" show explain exe.seq_size
