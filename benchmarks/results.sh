#!/usr/bin/env bash
# The runs on real data behind docs/results.md: trains, and scores on documents with complete labels.
# usage: benchmarks/results.sh [RUN ...]     all of them by default
# Interrupted, it goes on where it was; finished runs are not repeated.
# SHARED: where data/ and encoders/ are; RUNS: where models and scores go; UNNOTED: the program.
set -euo pipefail
cd "$(dirname "$0")/.."

SHARED=${SHARED:-../shared}
RUNS=${RUNS:-runs/results}
UNNOTED=${UNNOTED:-.venv/bin/unnoted}
DOCRED=$SHARED/data/docred
CHEMDISGENE=$SHARED/data/chemdisgene

run() {  # name, training files, gold files, then settings
    local name=$1 train=$2 gold=$3 set=() files=()
    shift 3
    for setting in "$@"; do set+=(--set "$setting"); done
    "$UNNOTED" train configs/small.yaml --resume --set encoder="$SHARED/encoders/minilm" --set seed=66 \
        --set train="[${train// /, }]" --set output="$RUNS/$name" "${set[@]}"
    for file in $gold; do files+=(--gold "$file"); done
    for file in $train; do files+=(--train "$file"); done
    "$UNNOTED" evaluate --model "$RUNS/$name" "${files[@]}" --json >"$RUNS/$name/evaluation.json.new"
    mv "$RUNS/$name/evaluation.json.new" "$RUNS/$name/evaluation.json"
}

docred() {  # name, training file, then settings
    local name=$1 train=$2
    shift 2
    run "$name" "$train" "$DOCRED/dev_revised.json" vocabulary="$DOCRED/rel_info.json" "$@"
}

original() {  # scored after every epoch too, for the learning curves
    docred "$1" "$DOCRED/train_annotated.json" dev="[$DOCRED/dev_revised.json]" "${@:2}"
}

complete() {
    docred "$1" "$DOCRED/train_revised.json" epochs=6 "${@:2}"
}

extreme() {  # the paper's extremely unlabelled level, made on the spot
    [ -f "$RUNS/extreme.json" ] ||
        "$UNNOTED" data thin "$DOCRED/train_annotated.json" --level extreme --seed 0 --to "$RUNS/extreme.json"
    docred "$1" "$RUNS/extreme.json" epochs=5 "${@:2}"
}

# The models of the paper's comparisons, at one scale for all: 548 documents, two layers of MiniLM, 5 epochs, a quarter of
# the unlabelled pairs. Sizes and rates of new layers are the published ones, but for BRAN and max-pool on MiniLM, which
# have those of small.yaml; the pretrained encoder's rate is that of small.yaml. Two losses on one model differ in nothing
# else.
SCALE=(epochs=5 encoder_layers=2 unlabelled_share=0.25)

model() {  # name, model, loss, then settings
    local priors=null
    [ "$3" = ssr-pu ] && priors=3
    docred "$1" "$DOCRED/train_annotated.json" "${SCALE[@]}" model="$2" loss="$3" prior_multiplier=$priors "${@:4}"
}

bilstm() {  # name, loss, then settings: its encoder is made on the spot, from word vectors
    model "$1" bilstm "$2" encoder=bilstm encoder_layers=null vectors="$SHARED/encoders/glove.6B.100d.docred.txt" \
        embedding=128 encoder_learning_rate=1e-3 head_learning_rate=1e-3 "${@:3}"
}

CANDIDATES=Chemical:Disease,Chemical:Gene,Gene:Disease
noisy() {  # name, then settings: 548 of the 1,521 distantly labelled abstracts, thresholds tuned on 149 others
    local parts=("$RUNS"/chemdisgene-{train,dev,rest}.jsonl)
    [ -f "${parts[2]}" ] ||
        "$UNNOTED" data split "$CHEMDISGENE"/train_{abstracts.txt,relationships.tsv}.gz --seed 0 \
            --into "${parts[0]}=0.36" --into "${parts[1]}=0.1" --into "${parts[2]}=0.54"
    local gold="$CHEMDISGENE/curated_abstracts.txt.gz $CHEMDISGENE/curated_all_relationships.tsv.gz"
    run "$1" "${parts[0]}" "$gold" "${SCALE[@]}" batch_documents=8 candidates="$CANDIDATES" embedding=128 \
        loss=cross-entropy prior_multiplier=null dev="[${parts[1]}]" tuned_thresholds=true "${@:2}"
}

mkdir -p "$RUNS"
for name in "${@:-all}"; do
    case $name in
    original-ssr-pu) original "$name" loss=ssr-pu ;;
    original-atlop) original "$name" loss=atlop prior_multiplier=null ;;
    original-sr-pn) original "$name" loss=sr-pn ;;
    original-s-pu) original "$name" loss=s-pu ;;
    longer-ssr-pu) original "$name" loss=ssr-pu epochs=12 ;;
    longer-atlop) original "$name" loss=atlop prior_multiplier=null epochs=12 ;;
    extreme-ssr-pu) extreme "$name" loss=ssr-pu prior_multiplier=12 ;;
    extreme-atlop) extreme "$name" loss=atlop prior_multiplier=null ;;
    complete-ssr-pu) complete "$name" loss=ssr-pu prior_multiplier=1 ;;
    complete-atlop) complete "$name" loss=atlop prior_multiplier=null ;;
    model-atlop) model "$name" atlop atlop ;;
    model-atlop-ssr-pu) model "$name" atlop ssr-pu ;;
    model-docunet) model "$name" docunet balanced-softmax map_learning_rate=4e-4 ;;
    model-docunet-ssr-pu) model "$name" docunet ssr-pu map_learning_rate=4e-4 ;;
    model-kd-docre) model "$name" kd-docre adaptive-focal embedding=384 ;;
    model-kd-docre-ssr-pu) model "$name" kd-docre ssr-pu embedding=384 ;;
    model-gain) model "$name" gain cross-entropy head_learning_rate=1e-3 ;;
    model-gain-ssr-pu) model "$name" gain ssr-pu head_learning_rate=1e-3 ;;
    model-bilstm) bilstm "$name" cross-entropy ;;
    model-bilstm-ssr-pu) bilstm "$name" ssr-pu ;;
    model-bran) noisy "$name" architecture=bran encoder=convolutional-attention encoder_layers=null encoder_learning_rate=5e-4 head_learning_rate=5e-4 ;;
    model-max-pool) noisy "$name" architecture=max-pool ;;
    model-bran-encoder) noisy "$name" architecture=bran ;;
    models) "$0" model-{atlop,docunet,kd-docre,gain,bilstm}{,-ssr-pu} model-{bran,max-pool,bran-encoder} ;;
    all) "$0" {original,longer,extreme,complete}-{ssr-pu,atlop} original-{sr-pn,s-pu} models ;;
    *) echo "unknown run $name" >&2 && exit 1 ;;
    esac
done
