"""What stands before and after the layers: embedding, learned positions, last norm, lm_head."""

from __future__ import annotations

from snippets.planner.weights.counting import Counting
from snippets.planner.weights.errors import WeightsError
from snippets.planner.weights.storage.matrices import linear
from snippets.planner.weights.storage.size import NOTHING, Size


def tied(c: Counting) -> bool:
    """Whether lm_head is the embedding; a composite config may say it at the top."""
    for fields in (c.text, c.root):
        if isinstance(fields.raw("tie_word_embeddings"), bool):
            return fields.flag("tie_word_embeddings")
    return c.recipe.tied


def outside_layers(c: Counting, is_first: bool, is_last: bool) -> Size:
    """Embedding on the first stage, norm and lm_head on the last, or on all where the class does not care."""
    recipe, one_matrix = c.recipe, c.recipe.positions == "bert" or tied(c)  # an encoder's embedding is its only one
    size = NOTHING
    if is_first or recipe.embedding_on == "everywhere" or (is_last and one_matrix):
        size += embedding(c) + positions(c)
    if (is_last or recipe.head_on == "everywhere") and not one_matrix:
        size += lm_head(c)
    if (is_last or recipe.norm_on == "everywhere") and recipe.final_norm:
        size += c.norm(c.hidden)
    return size


def embedding(c: Counting) -> Size:
    """One row per token of the vocabulary; never quantised."""
    if c.config.vocab_size is None:
        raise WeightsError("vocab_size", "vocab_size is missing, and the weights depend on it.")
    rows = c.config.vocab_size if c.recipe.whole_embedding else c.split.vocabulary(c.config.vocab_size)
    return c.numbers(rows * c.hidden)


def lm_head(c: Counting) -> Size:
    """As large as the embedding; ModelOpt checkpoints quantise it unless they exclude it."""
    if not c.scheme.quantises_head or c.skipped.names_head:
        return embedding(c)
    return linear(c.scheme, c.hidden, (c.split.vocabulary(c.config.vocab_size or 0),), c.plain_bytes)


def positions(c: Counting) -> Size:
    """A learned table; OPT keeps two rows for padding (models/opt.py OPTLearnedPositionalEmbedding)."""
    if not c.recipe.positions:
        return NOTHING
    if c.recipe.positions == "bert":
        return _bert_positions(c)
    key = "max_target_positions" if c.recipe.positions == "whisper" else "max_position_embeddings"
    rows = c.text.optional_integer("n_positions") or c.number(key)
    return c.numbers((rows + (2 if c.recipe.positions == "opt" else 0)) * c.hidden)


def _bert_positions(c: Counting) -> Size:
    """Tables of positions and token types, split and padded as the vocabulary, and a norm (models/bert.py:49)."""
    rows = c.split.vocabulary(c.number("max_position_embeddings")) + c.split.vocabulary(c.number("type_vocab_size", 2))
    return c.numbers(rows * c.hidden) + c.norm(c.hidden)
