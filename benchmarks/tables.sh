#!/usr/bin/env bash
# The paper's tables on real data, at a scale for two cores, behind docs/results.md: hours.
# usage: benchmarks/tables.sh [TABLE ...]     all of them by default, the most telling first
# Interrupted, it goes on where it was; finished runs are not repeated, whichever table they stand in.
# SHARED: where data/ and encoders/ are; RUNS: where runs and tables go; UNNOTED: the program.
set -euo pipefail
cd "$(dirname "$0")/.."

SHARED=${SHARED:-../shared}
RUNS=${RUNS:-runs/reproduce}
UNNOTED=${UNNOTED:-.venv/bin/unnoted}

reproduce() {  # table, seeds, epochs, rows
    "$UNNOTED" reproduce "$1" --seeds "$2" --epochs "$3" --rows "$4" --encoder "$SHARED/encoders/minilm" --data "$SHARED/data" \
        --encoder-layers 2 --unlabelled-share 0.25 --set encoder_learning_rate=2e-4 --jobs 2 --to "$RUNS" --format markdown | tee "$RUNS/tables/$name.md"
}

mkdir -p "$RUNS/tables"  # what `seeds` and `longer` print stands beside table 1 there, and does not replace it
for name in "${@:-all}"; do
    case $name in
    table1) reproduce table1 66 5 atlop,pn,sr-pn,pu,sr-pu,s-pu,ssr-pu ;;
    table_common1) reproduce table_common1 66 5 sr-pn,sr-pu,ssr-pu ;;  # three runs of table 1, scored otherwise
    table3) reproduce table3 66 5 atlop,ssr-pu ;;
    table_ext) reproduce table_ext 66 5 atlop,ssr-pu ;;  # the runs of table 3, with precision and recall
    seeds) reproduce table1 64-66 5 atlop,ssr-pu ;;
    longer) reproduce table1 66 20 pn,sr-pn,pu,ssr-pu ;;  # what 5 epochs do not show: who learns the silence by heart
    table2) reproduce table2 66 12 atlop,ssr-pu ;;  # 350 documents: 12 epochs are about as many steps as 8 of table 1
    table9) reproduce table9 66 5 prior-2,prior-3,prior-4 ;;
    table6) reproduce table6 66 5 s-pu-log-sigmoid,s-pu,s-pu-log-sigmoid-ranking,ssr-pu ;;
    table8) reproduce table8 66 5 margin-0,margin-0.1,margin-0.25,margin-0.5,margin-1 ;;
    table4) reproduce table4 66 5 atlop,ssr-pu ;;
    all) "$0" table1 table_common1 table3 table_ext seeds table2 table9 table6 table8 table4 longer ;;
    *) echo "unknown table $name" >&2 && exit 1 ;;
    esac
done
