#!/usr/bin/env bash
# Published steps of reinforcement learning: the table of docs/post-training.md is what calc predicts.
# CALC_UPDATE=1 writes it instead.
set -eu
what=--check
[ "${CALC_UPDATE:-}" != 1 ] || what=--docs
python3 scripts/rl_rows.py --calc "$CALC" "$what"
