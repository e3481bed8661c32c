"""A tiny encoder made on the spot, and generated documents to train it on."""

import json
import multiprocessing
import os
import socket
import subprocess
import sys
import traceback
from multiprocessing.connection import wait

import torch
from accelerate.state import AcceleratorState, GradientState
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, set_seed

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.losses import get_loss
from unnoted.models.model import RelationModel
from unnoted.training import TrainingConfig
from unnoted.training.processes import join_processes

VOCABULARY = RelationVocabulary.from_documents(generate_documents(60))
"""The relations of all generated documents; those of a few would not be those of a few others."""

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def tiny_encoder(folder, documents=40, dropout=0.1):
    """Write an encoder of one layer with random weights, and a tokenizer that knows the documents' words."""
    words = {
        word.lower() for document in generate_documents(documents) for s in document.sentences for word in s
    }
    vocabulary = {piece: number for number, piece in enumerate([*SPECIALS, "*", *sorted(words - {"*"})])}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=200))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = ("pad", "unk", "cls", "sep", "mask")
    tokens = {f"{name}_token": token for name, token in zip(names, SPECIALS, strict=True)}
    PreTrainedTokenizerFast(tokenizer_object=backend, **tokens).save_pretrained(folder)
    set_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=512,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def corpus(documents=8, candidates=None):
    """Generated documents."""
    return Corpus(tuple(generate_documents(documents)), VOCABULARY, candidates or CandidatePairs())


def fresh_model(encoder, seed=0, relations=VOCABULARY, **options):
    """A small model with random layers over an encoder."""
    set_seed(seed)
    return RelationModel.from_encoder(encoder, relations, **{"embedding": 8, "block": 4} | options)


def equal(one, other):
    """Whether two modules have the very same weights."""
    mine, theirs = one.state_dict(), other.state_dict()
    return mine.keys() == theirs.keys() and all(torch.equal(mine[name], theirs[name]) for name in mine)


def config_file(folder, documents=12, **changes):
    """Write generated documents, an encoder, and a config that trains it on them; the config's file."""
    encoder = tiny_encoder(folder / "encoder")
    write_documents(folder / "train.json", generate_documents(documents))
    values = {
        "train": folder / "train.json", "encoder": str(encoder), "loss": "ssr-pu", "prior_multiplier": 2,
        "epochs": 2, "batch_size": 2, "head_learning_rate": 1e-3, "encoder_learning_rate": 1e-3,
        "output": folder / "run", **changes,
    }  # fmt: skip
    if not get_loss(values["loss"]).needs_priors:
        del values["prior_multiplier"]
    path = folder / "config.yaml"
    TrainingConfig.from_keys(values).save(path)
    return path


def vocabulary_file(folder):
    """Write `VOCABULARY`."""
    path = folder / "relations.json"
    path.write_text(json.dumps(list(VOCABULARY)), "utf-8")
    return path


def killed_runs(script, folders, write):
    """Let a script start a run for each moment, a key of `folders`, and kill it there.

    The script is given a config file, which `write` makes in a folder, and the moment, for each in turn.
    """
    arguments = [word for moment, folder in folders.items() for word in (write(folder), moment)]
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folders


def together(work, processes=2, seconds=60):
    """What `work(process)` returns in each of several processes that train together, in the order of processes.

    An error in one of them is raised here, and ends the others.
    """
    context = multiprocessing.get_context("fork")  # to start Python takes longer than most tests
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    running, ends = [], []
    for process in range(processes):
        mine, theirs = context.Pipe()
        running.append(
            context.Process(target=_join, args=(work, process, processes, port, theirs), daemon=True)
        )
        running[-1].start()
        theirs.close()
        ends.append(mine)
    try:
        results = {}
        while len(results) < processes:
            ready = wait([end for end in ends if end not in results], timeout=seconds)
            assert ready, f"no result in {seconds} seconds"
            for end in ready:
                results[end] = end.recv()
                if isinstance(results[end], Exception):
                    raise results[end]
        return [results[end] for end in ends]
    finally:
        for process in running:
            process.kill()
            process.join()


def _join(work, process, processes, port, end):
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    values = (process, process, processes, processes, "127.0.0.1", port)
    os.environ.update({name: str(value) for name, value in zip(names, values, strict=True)})
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads do not survive a fork
    torch.set_num_threads(1)
    AcceleratorState._reset_state(reset_partial_state=True)  # of the process that this one was copied from
    GradientState._reset_state()
    try:
        join_processes()
        end.send(work(process))
        end.poll(None)  # until it is killed: the others still need it
    except Exception as error:
        traceback.print_exc()
        end.send(error)
