# Of an if and a case that the script's own words decide only what runs is read; of others a line says that a branch has it. A
# script that is read there sets variables.
sizes() { "$CALC" import "$1" --exe x.json; status=$?; [ $status = 0 ] && grep -E '"(num_procs|tensor_par|pipeline_par|microbatch_size)"' x.json | tr -d ' \n'; echo " $1 $status"; }
train='torchrun --nnodes $NODES --nproc-per-node 8 pretrain_gpt.py $SIZES $EXTRA --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 --global-batch-size 64 --bf16'
cat >if.sh <<END
SIZE=\${1:-70b}
NODES=2
if [ "\$SIZE" = 7b ]; then TP=1; PP=1
elif [[ "\$SIZE" == "70b" ]]; then
  TP=8; PP=2   # not "; fi"
  if [ \$NODES -gt 4 ]; then PP=16; fi
else
  echo "unknown"; exit 1
fi
SIZES="--tensor-model-parallel-size \$TP --pipeline-model-parallel-size \$PP"
if [ -n "\$SIZE" ]; then EXTRA="--micro-batch-size 2"; else EXTRA="--micro-batch-size 4"; fi
$train
END
sizes if.sh
sed 's/:-70b/:-7b/; s/-n "/-z "/' if.sh >other.sh
sizes other.sh
sed 's/:-70b/:-13b/' if.sh >none.sh
sizes none.sh
cat >case.sh <<END
NODES=1
case "\$KIND" in a) OTHER= ;; esac
SIZE=70B EXTRA="--micro-batch-size 1"
case \$SIZE in
  7B|8B) SIZES="--tensor-model-parallel-size 1" ;;
  70*)
    case \$NODES in 1) SIZES="--tensor-model-parallel-size 8" ;; *) SIZES= ;; esac
    ;;
  *) SIZES="--tensor-model-parallel-size 2";;
esac
$train
END
sizes case.sh
sed 's/=70B/=7B/' case.sh >seven.sh
sizes seven.sh
sed 's/=70B/=$(hostname)/' case.sh >open.sh
sizes open.sh
printf 'export NODES=4\nexport SIZES="--tensor-model-parallel-size 4 --micro-batch-size 1"\n' >env.sh
printf 'source ./env.sh\n%s\n' "$train" >sourced.sh
sizes sourced.sh
printf '. missing/absent.sh\n%s\n' "$train" >missing.sh
sizes missing.sh
