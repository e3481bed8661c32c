#!/usr/bin/env bash
# From public data to a model on the Hugging Face hub, on one GPU, or overnight on a CPU.
#
#   examples/train_docred.sh [OPTIONS OF unnoted train]        an interrupted run continues
#   HF_TOKEN=... HF_REPO=you/name examples/train_docred.sh     and uploads the model
#
# DATA and OUTPUT name other folders than data and runs/docred. Files that are in DATA already are not fetched. A small
# trial: examples/train_docred.sh --set epochs=1 --set folds=null
set -euo pipefail

data=${DATA:-data}
output=${OUTPUT:-runs/docred}
if [ -n "${HF_TOKEN:-}" ]; then
    : "${HF_REPO:?name the repository to upload to, such as HF_REPO=you/docred-best}"
fi

# Test documents with complete labels: Re-DocRED's. Training documents with the labels that annotators gave: DocRED's.
[ -e "$data/docred/train_annotated.json" ] || unnoted data fetch docred --to "$data/docred"
[ -e "$data/re-docred/test_revised.json" ] || unnoted data fetch re-docred --to "$data/re-docred"
unnoted data check "$data/docred/train_annotated.json" --vocabulary "$data/docred/rel_info.json"

# BERT-base with its published learning rate where there is a GPU, else the small encoder of `best`.
encoder=()
if command -v nvidia-smi > /dev/null && nvidia-smi > /dev/null 2>&1; then
    encoder=(--encoder bert-base-cased --set encoder_learning_rate=5e-5)
fi
resume=()
if [ -e "$output/run.json" ]; then
    resume=(--resume)
fi
unnoted train best --train "$data/docred/train_annotated.json" --test "$data/re-docred/test_revised.json" \
    --set "vocabulary=$data/docred/rel_info.json" --output "$output" "${encoder[@]}" "${resume[@]}" "$@"
unnoted evaluate --model "$output" --gold "$data/re-docred/test_revised.json" --train "$data/docred/train_annotated.json"

if [ -n "${HF_TOKEN:-}" ]; then
    hf upload "$HF_REPO" "$output" . --exclude 'checkpoints/*' --exclude 'folds/*' --exclude 'logs/*' \
        --exclude 'run.json' --exclude '.lock' --commit-message "unnoted train best on DocRED"
else
    echo "The model is in $output. With HF_TOKEN and HF_REPO, the same command uploads it."
fi
