#!/usr/bin/env bash
# Published fine-tuning: the summary of docs/post-training.md is what calc predicts. CALC_UPDATE=1 writes it instead.
set -eu
what=--check
[ "${CALC_UPDATE:-}" != 1 ] || what=--docs
python3 scripts/make_finetune.py --calc "$CALC" "$what"
