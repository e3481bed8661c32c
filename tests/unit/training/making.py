"""A tiny encoder made on the spot, and generated documents to train it on."""

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, set_seed

from unnoted.documents.generator import generate_documents
from unnoted.documents.writing import write_documents

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


def settings_file(folder, documents=12, **changes):
    """Write generated documents, an encoder, and settings that train it on them; the settings' file."""
    encoder = tiny_encoder(folder / "encoder")
    write_documents(folder / "train.json", generate_documents(documents))
    values = {
        "train": folder / "train.json", "encoder": encoder, "method": "ssr-pu", "prior_multiplier": 2,
        "epochs": 2, "batch_documents": 2, "new_layer_rate": 1e-3, "encoder_rate": 1e-3, "log_steps": 1,
        "output": folder / "run", **changes,
    }  # fmt: skip
    path = folder / "settings.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in values.items()), "utf-8")
    return path
