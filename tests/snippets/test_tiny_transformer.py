"""The tiny transformer against a plain forward pass written here, and its counts against formulas derived here."""

from __future__ import annotations

import cmath
import math
from dataclasses import replace
from random import Random

import pytest

from snippets.kv_cache_size import ModelConfig, kv_bytes
from snippets.tiny_transformer import (
    KVCache,
    Layer,
    TinyConfig,
    TinyModel,
    Work,
    attend,
    attention_weights,
    decode,
    forward,
    random_model,
    rotate,
    total,
)

Numbers = list[float]
TINY = TinyConfig()
MHA = TinyConfig(num_key_value_heads=4)
MQA = TinyConfig(num_key_value_heads=1)
DEEP = TinyConfig(vocab_size=40, hidden_size=20, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=3)


def prompt_of(length: int, seed: int, config: TinyConfig = TINY) -> list[int]:
    return [Random(seed).randrange(config.vocab_size) for _ in range(length)]


# A forward pass with none of the module's functions: all positions at once, a square of scores, minus infinity above
# the diagonal, rotations as complex numbers, multi-head attention only.


def times(matrix: list[Numbers], x: Numbers) -> Numbers:
    return [sum(matrix[row][i] * x[i] for i in range(len(x))) for row in range(len(matrix))]


def normed(x: Numbers, weight: Numbers, eps: float) -> Numbers:
    size = math.sqrt(sum(v**2 for v in x) / len(x) + eps)
    return [weight[i] * x[i] / size for i in range(len(x))]


def turned(x: Numbers, position: int, theta: float) -> Numbers:
    half = len(x) // 2
    pairs = [complex(x[i], x[i + half]) * cmath.exp(1j * position * theta ** (-2 * i / len(x))) for i in range(half)]
    return [z.real for z in pairs] + [z.imag for z in pairs]


def mha(layer: Layer, xs: list[Numbers], config: TinyConfig) -> list[Numbers]:
    n, d = len(xs), config.head_dim
    out: list[Numbers] = [[] for _ in xs]
    queries, keys, values = ([times(m, x) for x in xs] for m in (layer.q_proj, layer.k_proj, layer.v_proj))
    for head in range(config.num_attention_heads):
        part = slice(head * d, head * d + d)
        q = [turned(queries[t][part], t, config.rope_theta) for t in range(n)]
        k = [turned(keys[t][part], t, config.rope_theta) for t in range(n)]
        for t in range(n):
            row = [
                sum(a * b for a, b in zip(q[t], k[i], strict=True)) / math.sqrt(d) if i <= t else -math.inf
                for i in range(n)
            ]
            weights = [math.exp(score) / sum(map(math.exp, row)) for score in row]
            out[t] += [sum(weights[i] * values[i][part][j] for i in range(n)) for j in range(d)]
    return [times(layer.o_proj, x) for x in out]


def mha_logits(model: TinyModel, tokens: list[int]) -> Numbers:
    config = model.config
    xs = [model.embed_tokens[token] for token in tokens]
    for layer in model.layers:
        mixed = mha(layer, [normed(x, layer.input_layernorm, config.rms_norm_eps) for x in xs], config)
        xs = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(xs, mixed, strict=True)]
        for t, x in enumerate(xs):
            y = normed(x, layer.post_attention_layernorm, config.rms_norm_eps)
            gate, up = times(layer.gate_proj, y), times(layer.up_proj, y)
            inner = [g * u / (1 + math.exp(-g)) for g, u in zip(gate, up, strict=True)]
            xs[t] = [a + b for a, b in zip(x, times(layer.down_proj, inner), strict=True)]
    return times(model.embed_tokens, normed(xs[-1], model.norm, config.rms_norm_eps))


def with_kv_heads_repeated(model: TinyModel) -> TinyModel:
    """The multi-head model equal to a grouped-query model: each KV head once per query head that reads it."""
    config, d = model.config, model.config.head_dim
    shared = config.num_attention_heads // config.num_key_value_heads

    def repeated(matrix: list[Numbers]) -> list[Numbers]:
        kv_heads = [matrix[i : i + d] for i in range(0, len(matrix), d)]
        return [row for head in kv_heads for _ in range(shared) for row in head]

    layers = [replace(x, k_proj=repeated(x.k_proj), v_proj=repeated(x.v_proj)) for x in model.layers]
    return replace(model, layers=layers, config=replace(config, num_key_value_heads=config.num_attention_heads))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("config", [TINY, MHA, MQA, DEEP], ids=["gqa", "mha", "mqa", "deep"])
def test_logits_are_the_same_with_and_without_the_cache(config: TinyConfig, seed: int) -> None:
    model = random_model(config, seed)
    prompt = prompt_of(1 + 3 * seed, seed, config)
    without, _ = decode(model, prompt, 6, use_cache=False)
    cached, _ = decode(model, prompt, 6, use_cache=True)
    assert [step.token for step in cached] == [step.token for step in without]
    assert [step.logits for step in cached] == [step.logits for step in without]


@pytest.mark.parametrize("seed", range(3))
def test_one_kv_head_per_query_head_is_plain_multi_head_attention(seed: int) -> None:
    model, prompt = random_model(MHA, seed), prompt_of(7, seed)
    assert forward(model, prompt, KVCache(MHA), Work()) == pytest.approx(mha_logits(model, prompt), abs=1e-9)


@pytest.mark.parametrize("config", [TINY, MQA, DEEP], ids=["gqa", "mqa", "deep"])
def test_neighbouring_query_heads_share_a_kv_head(config: TinyConfig) -> None:
    model, prompt = random_model(config, 1), prompt_of(7, 1, config)
    expected = mha_logits(with_kv_heads_repeated(model), prompt)
    assert forward(model, prompt, KVCache(config), Work()) == pytest.approx(expected, abs=1e-9)


def test_each_token_is_the_one_with_the_highest_logit_of_all_tokens_so_far() -> None:
    model, tokens = random_model(MHA, 4), prompt_of(3, 4)
    for step in decode(model, list(tokens), 5, use_cache=True)[0]:
        logits = mha_logits(model, tokens)
        assert step.token == logits.index(max(logits))
        tokens.append(step.token)


@pytest.mark.parametrize("t", [0, 3, 6])
def test_attention_weights_add_up_to_one_over_the_tokens_so_far_and_ignore_later_ones(t: int) -> None:
    rng = Random(t)
    query, *keys = [[rng.uniform(-9, 9) for _ in range(4)] for _ in range(8)]
    weights = attention_weights(query, keys, t)
    assert len(weights) == t + 1
    assert all(weight > 0 for weight in weights)
    assert math.fsum(weights) == pytest.approx(1, abs=1e-12)
    assert weights == attention_weights(query, [*keys[: t + 1], [1e3] * 4], t)


def test_attention_mixes_the_values_by_the_weights() -> None:
    # Scores 0 and ln 3 (after the division by sqrt(4)): weights 1/4 and 3/4.
    keys = [[0.0] * 4, [2 * math.log(3), 0, 0, 0]]
    mixed = attend([1.0, 0, 0, 0], keys, [[4.0, 0, 0, 0], [0, 8.0, 0, 0]], 1, Work())
    assert mixed == pytest.approx([1, 6, 0, 0])


def test_rotary_scores_depend_on_the_distance_alone() -> None:
    q, k = [0.3, -1.2, 0.7, 2.0], [1.1, 0.4, -0.6, 0.9]

    def score(at: int, seen_at: int) -> float:
        return sum(a * b for a, b in zip(rotate(q, at, 10_000), rotate(k, seen_at, 10_000), strict=True))

    assert score(9, 4) == pytest.approx(score(25, 20))
    assert score(9, 4) != pytest.approx(score(9, 5))
    assert rotate(q, 0, 10_000) == q


@pytest.mark.parametrize("config", [TINY, MQA, DEEP], ids=["gqa", "mqa", "deep"])
@pytest.mark.parametrize(("prompt_length", "new"), [(1, 1), (1, 9), (8, 14)])
def test_counted_work_is_what_the_formulas_say(config: TinyConfig, prompt_length: int, new: int) -> None:
    # The last new token is never passed through the model, so the last step has m tokens:
    p, m = prompt_length, prompt_length + new - 1
    # Positions. With the cache each of the m tokens once; without it p + (p+1) + ... + m of them.
    positions = {True: m, False: (p + m) * new // 2}
    # Scores of one head. With: 1 + 2 + ... + m = m(m+1)/2. Without: the same for every step, and
    # the sum of n(n+1)/2 for n = 1 ... m is m(m+1)(m+2)/6, less the steps below p.
    scores = {True: m * (m + 1) // 2, False: (m * (m + 1) * (m + 2) - (p - 1) * p * (p + 1)) // 6}
    # Multiply-accumulates of one position: q and o are square in (query heads * d), k and v in (KV heads * d).
    h, d, layers, queries = config.hidden_size, config.head_dim, config.num_hidden_layers, config.num_attention_heads
    per_position = layers * h * (2 * queries * d + 2 * config.num_key_value_heads * d + 3 * config.intermediate_size)
    per_step = config.vocab_size * h  # the output head, for the last token only

    for use_cache in (True, False):
        steps, _ = decode(random_model(config, 0), prompt_of(p, 0, config), new, use_cache)
        heads_scores = layers * queries * scores[use_cache]
        expected = Work(
            positions=positions[use_cache],
            scores=heads_scores,
            linear=positions[use_cache] * per_position + new * per_step,
            attention=heads_scores * 2 * d,
        )
        assert total(steps) == expected


def test_with_the_cache_each_step_after_the_prompt_adds_one_score_per_head() -> None:
    steps, _ = decode(random_model(TINY, 0), prompt_of(5, 0), 4, use_cache=True)
    assert [step.work.scores // 8 for step in steps] == [15, 6, 7, 8]  # 2 layers * 4 query heads


@pytest.mark.parametrize("config", [TINY, MHA, MQA, DEEP], ids=["gqa", "mha", "mqa", "deep"])
def test_bytes_held_are_those_of_the_formula(config: TinyConfig) -> None:
    _, cache = decode(random_model(config, 2), prompt_of(8, 2, config), 14, use_cache=True)
    shape = ModelConfig("tiny", config.num_hidden_layers, config.num_key_value_heads, config.head_dim, dtype_bytes=8)
    assert cache.num_tokens == 21  # the 22nd was chosen last and never passed through
    assert cache.num_bytes() == kv_bytes(shape, 21)


def test_tiny_cache_of_21_tokens_holds_5376_bytes() -> None:
    # 2 (key, value) * 2 layers * 2 KV heads * 4 numbers * 8 bytes * 21 tokens
    _, cache = decode(random_model(TINY, 2), prompt_of(8, 2), 14, use_cache=True)
    assert cache.num_bytes() == 5376


def test_without_the_cache_the_last_pass_holds_the_same_rows() -> None:
    model, prompt = random_model(TINY, 3), prompt_of(4, 3)
    kept, remade = (decode(model, prompt, 5, use_cache)[1] for use_cache in (True, False))
    assert (kept.keys, kept.values) == (remade.keys, remade.values)


def test_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    assert random_model(TINY, 5) == random_model(TINY, 5)
    assert random_model(TINY, 5) != random_model(TINY, 6)


@pytest.mark.parametrize("name", sorted(vars(TINY)))
def test_a_size_of_zero_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} is 0, but must be above 0"):
        TinyConfig(**{name: 0})


def test_kv_heads_that_do_not_divide_the_query_heads_are_refused() -> None:
    with pytest.raises(ValueError, match=r"num_key_value_heads is 3, but must divide num_attention_heads = 4"):
        TinyConfig(num_key_value_heads=3)


def test_odd_head_dim_is_refused() -> None:
    with pytest.raises(ValueError, match="head_dim is 5, but must be even"):
        TinyConfig(head_dim=5)


@pytest.mark.parametrize(
    ("prompt", "new", "complaint"),
    [([], 1, "prompt of 0 tokens"), ([1], 0, "max_tokens = 0"), ([1, 27], 1, "token 27.*0 to 26"), ([-1], 1, "-1")],
)
def test_bad_input_is_refused_in_words(prompt: list[int], new: int, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        decode(random_model(TINY, 0), prompt, new, use_cache=True)
