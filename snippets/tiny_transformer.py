"""A decoder-only transformer in plain Python, small enough to count every multiplication.

It has the parts of Llama and Qwen2.5: token embeddings, RMSNorm, grouped-query attention over the tokens so far, rotary
positions, a gated MLP, an output head tied to the embeddings. The weights are random, drawn from a seed: it has learned
nothing and writes noise. What it shows is the arithmetic, with the KV cache and without. Not here: training, sampling,
batches, biases, speed. Names are those of a Hugging Face config.json.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, exp, fsum, sin, sqrt
from random import Random

Vector = Sequence[float]
Rows = Sequence[Vector]
Matrix = list[list[float]]  # one row of input weights per output


@dataclass(frozen=True)
class TinyConfig:
    """The shape of the model: 4 query heads share 2 KV heads."""

    vocab_size: int = 27
    hidden_size: int = 16
    intermediate_size: int = 32
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 4
    rope_theta: float = 10_000.0
    rms_norm_eps: float = 1e-6

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise ValueError(f"{name} is {value}, but must be above 0")
        if (queries := self.num_attention_heads) % (shared := self.num_key_value_heads):
            raise ValueError(f"num_key_value_heads is {shared}, but must divide num_attention_heads = {queries}")
        if self.head_dim % 2:
            raise ValueError(f"head_dim is {self.head_dim}, but must be even: rotary positions turn pairs of numbers")


@dataclass
class Work:
    """What was computed, counted where it is done. Norms, rotations, softmax and SiLU are left out."""

    positions: int = 0  # tokens put through all layers
    scores: int = 0  # one query times one key, over all layers and query heads
    linear: int = 0  # multiply-accumulates of projections, MLP and head: so many for every position
    attention: int = 0  # multiply-accumulates of query times key and weight times value: so many for every score


@dataclass(frozen=True)
class Layer:
    """The weights of one layer."""

    input_layernorm: list[float]  # (hidden_size,)
    q_proj: Matrix  # (num_attention_heads * head_dim, hidden_size)
    k_proj: Matrix  # (num_key_value_heads * head_dim, hidden_size)
    v_proj: Matrix  # (num_key_value_heads * head_dim, hidden_size)
    o_proj: Matrix  # (hidden_size, num_attention_heads * head_dim)
    post_attention_layernorm: list[float]  # (hidden_size,)
    gate_proj: Matrix  # (intermediate_size, hidden_size)
    up_proj: Matrix  # (intermediate_size, hidden_size)
    down_proj: Matrix  # (hidden_size, intermediate_size)


@dataclass(frozen=True)
class TinyModel:
    """All weights; the output head is the embedding table."""

    config: TinyConfig
    embed_tokens: Matrix  # (vocab_size, hidden_size)
    layers: list[Layer]
    norm: list[float]  # (hidden_size,)


def random_model(config: TinyConfig, seed: int) -> TinyModel:
    """A model with weights drawn evenly from a range; the same seed gives the same model in every Python."""
    rng = Random(seed)

    def matrix(rows: int, columns: int) -> Matrix:
        reach = sqrt(3 / columns)  # a variance of 1 / columns keeps sums of products near size 1
        return [[rng.uniform(-reach, reach) for _ in range(columns)] for _ in range(rows)]

    def norm() -> list[float]:
        return [rng.uniform(0.5, 1.5) for _ in range(config.hidden_size)]

    hidden, inner = config.hidden_size, config.intermediate_size
    queries, keys = config.num_attention_heads * config.head_dim, config.num_key_value_heads * config.head_dim
    layers = [
        Layer(
            norm(), matrix(queries, hidden), matrix(keys, hidden), matrix(keys, hidden), matrix(hidden, queries),
            norm(), matrix(inner, hidden), matrix(inner, hidden), matrix(hidden, inner),
        )
        for _ in range(config.num_hidden_layers)
    ]  # fmt: skip
    return TinyModel(config, matrix(config.vocab_size, hidden), layers, norm())


class KVCache:
    """The keys and values of every token seen: keys[layer][kv_head][token] is a row of head_dim numbers."""

    def __init__(self, config: TinyConfig) -> None:
        layers, kv_heads = range(config.num_hidden_layers), range(config.num_key_value_heads)
        self.keys: list[list[list[array[float]]]] = [[[] for _ in kv_heads] for _ in layers]
        self.values: list[list[list[array[float]]]] = [[[] for _ in kv_heads] for _ in layers]

    @property
    def num_tokens(self) -> int:
        """Tokens whose keys and values are held."""
        return len(self.keys[0][0])

    def append(self, layer: int, kv_head: int, key: Vector, value: Vector) -> None:
        """Keep one token's key and value; array("d") holds them in 8 bytes a number, as Python computes."""
        self.keys[layer][kv_head].append(array("d", key))
        self.values[layer][kv_head].append(array("d", value))

    def num_bytes(self) -> int:
        """Bytes of the numbers really held, row by row."""
        layers = self.keys + self.values
        return sum(len(row) * row.itemsize for layer in layers for head in layer for row in head)


def dot(a: Vector, b: Vector) -> float:
    """a · b. fsum rounds once, so the sum is the same in every Python; plain sum() changed in 3.12."""
    return fsum(x * y for x, y in zip(a, b, strict=True))


def linear(weight: Matrix, x: Vector, work: Work) -> list[float]:
    """weight · x, counted."""
    work.linear += len(weight) * len(x)
    return [dot(row, x) for row in weight]  # (outputs,)


def add(a: Vector, b: Vector) -> list[float]:
    """a + b, number by number."""
    return [x + y for x, y in zip(a, b, strict=True)]


def rms_norm(x: Vector, weight: Vector, eps: float) -> list[float]:
    """x brought to size 1 and scaled."""
    scale = 1 / sqrt(dot(x, x) / len(x) + eps)
    return [value * scale * w for value, w in zip(x, weight, strict=True)]


def rotate(x: Vector, position: int, theta: float) -> list[float]:
    """Rotary position: number i and number i + half are turned by an angle that grows with the position."""
    half = len(x) // 2
    angles = [position / theta ** (i / half) for i in range(half)]
    first = [x[i] * cos(a) - x[i + half] * sin(a) for i, a in enumerate(angles)]
    second = [x[i + half] * cos(a) + x[i] * sin(a) for i, a in enumerate(angles)]
    return first + second  # (head_dim,)


def heads(x: Vector, head_dim: int) -> list[Vector]:
    """One long vector cut into heads."""
    return [x[i : i + head_dim] for i in range(0, len(x), head_dim)]


def attention_weights(query: Vector, keys: Rows, t: int) -> list[float]:
    """softmax(query · key_i / sqrt(head_dim)) over i ≤ t; later keys are not read."""
    scores = [dot(query, key) / sqrt(len(query)) for key in keys[: t + 1]]
    largest = max(scores)  # taken off before exp, so that nothing overflows
    powers = [exp(score - largest) for score in scores]
    divisor = fsum(powers)
    return [power / divisor for power in powers]  # (t + 1,)


def attend(query: Vector, keys: Rows, values: Rows, t: int, work: Work) -> Vector:
    """The values at positions 0 … t, mixed by the attention weights."""
    weights = attention_weights(query, keys, t)
    work.scores += len(weights)
    work.attention += 2 * len(weights) * len(query)  # with the keys, with the values
    columns = zip(*values[: t + 1], strict=True)
    return [dot(weights, column) for column in columns]  # (head_dim,)


def attention(model: TinyModel, n: int, xs: list[list[float]], cache: KVCache, work: Work) -> list[list[float]]:
    """Layer n's attention for new tokens: keep their keys and values, then read everything kept so far."""
    cfg, layer, start = model.config, model.layers[n], len(cache.keys[n][0])
    for position, x in enumerate(xs, start):
        keys = heads(linear(layer.k_proj, x, work), cfg.head_dim)
        values = heads(linear(layer.v_proj, x, work), cfg.head_dim)
        for kv_head, (key, value) in enumerate(zip(keys, values, strict=True)):
            cache.append(n, kv_head, rotate(key, position, cfg.rope_theta), value)

    shared = cfg.num_attention_heads // cfg.num_key_value_heads  # query heads that read one KV head
    out = []
    for position, x in enumerate(xs, start):
        mixed: list[float] = []
        for head, query in enumerate(heads(linear(layer.q_proj, x, work), cfg.head_dim)):
            rows = cache.keys[n][head // shared], cache.values[n][head // shared]
            mixed += attend(rotate(query, position, cfg.rope_theta), *rows, position, work)
        out.append(linear(layer.o_proj, mixed, work))
    return out  # (new tokens, hidden_size)


def mlp(layer: Layer, x: Vector, work: Work) -> list[float]:
    """down(silu(gate · x) * (up · x))."""
    gate, up = linear(layer.gate_proj, x, work), linear(layer.up_proj, x, work)
    gated = [g / (1 + exp(-g)) * u for g, u in zip(gate, up, strict=True)]
    return linear(layer.down_proj, gated, work)  # (hidden_size,)


def forward(model: TinyModel, tokens: Sequence[int], cache: KVCache, work: Work) -> list[float]:
    """Pass tokens the cache does not hold yet; it grows by them. Returns one logit per possible next token."""
    cfg = model.config
    work.positions += len(tokens)
    xs = [model.embed_tokens[token] for token in tokens]  # (new tokens, hidden_size)
    for n, layer in enumerate(model.layers):
        normed = [rms_norm(x, layer.input_layernorm, cfg.rms_norm_eps) for x in xs]
        xs = [add(x, y) for x, y in zip(xs, attention(model, n, normed, cache, work), strict=True)]
        normed = [rms_norm(x, layer.post_attention_layernorm, cfg.rms_norm_eps) for x in xs]
        xs = [add(x, mlp(layer, y, work)) for x, y in zip(xs, normed, strict=True)]
    last = rms_norm(xs[-1], model.norm, cfg.rms_norm_eps)  # only the last token's logits choose the next
    return linear(model.embed_tokens, last, work)  # (vocab_size,)


@dataclass(frozen=True)
class Step:
    """One new token, the logits it was chosen by, and the work of this step alone."""

    token: int
    logits: list[float]
    work: Work


def total(steps: Sequence[Step]) -> Work:
    """The work of several steps together."""
    return Work(*(sum(getattr(step.work, kind) for step in steps) for kind in vars(Work())))


def decode(model: TinyModel, prompt: Sequence[int], max_tokens: int, use_cache: bool) -> tuple[list[Step], KVCache]:
    """Choose max_tokens tokens, each the one with the highest logit. Returns the steps and the last cache."""
    if not prompt or max_tokens < 1:
        raise ValueError(f"a prompt of {len(prompt)} tokens and max_tokens = {max_tokens}: both must be at least 1")
    if bad := [token for token in prompt if not 0 <= token < model.config.vocab_size]:
        raise ValueError(f"prompt has token {bad[0]}, but tokens run from 0 to {model.config.vocab_size - 1}")
    tokens, steps, cache = list(prompt), [], KVCache(model.config)
    for _ in range(max_tokens):
        if not use_cache:
            cache = KVCache(model.config)  # forget everything: each step starts over
        logits = forward(model, tokens[cache.num_tokens :], cache, work := Work())
        steps.append(Step(max(range(len(logits)), key=logits.__getitem__), logits, work))
        tokens.append(steps[-1].token)
    return steps, cache
