# %% [markdown]
# # With and without the cache
#
# A model writes one token at a time, and each new token looks back at all earlier ones. What it looks at are their
# keys and values. Must these be computed again at every step, or can they be kept? Here a whole transformer in plain
# Python writes the same text both ways. Everything is counted: what was computed, and the bytes that were kept.
#
# You predict first. Each answer is folded below its question.

# %% [markdown] tags=["site-only"]
# [Download this page as a notebook](with-and-without-the-cache.ipynb){ download="with-and-without-the-cache.ipynb" }.
# It holds the whole model and runs alone: Python and Jupyter are enough. Every output below was printed while the page
# was built.

# %% [markdown]
# ## A model small enough to read
#
# It has the parts of a real one such as Llama: embeddings, RMSNorm, grouped-query attention, rotary positions, a gated
# MLP. It is only far smaller. Its weights are random, so its text is noise; the arithmetic is the real one. Its tokens
# are letters.

# %%
from snippets.kv_cache_size import QWEN2_5_7B, ModelConfig, kv_bytes
from snippets.tiny_transformer import TinyConfig, decode, random_model, total

config = TinyConfig()
model = random_model(config, seed=103)
for name, value in vars(config).items():
    print(f"{name:<20} {value:>9}")

# %% [markdown]
# The heart of it is one function. The token at position `#!math t` compares its query with the keys at all positions
# `#!math i \le t`, turns the scores into weights that add up to one, and mixes the values by them:
#
# ```math
# w_{t,i} = \frac{e^{q_{t} \cdot k_{i} / \sqrt{d_{h}}}}{\sum_{j \le t} e^{q_{t} \cdot k_{j} / \sqrt{d_{h}}}}
# \qquad \mathrm{out}_{t} = \sum_{i \le t} w_{t,i} \, v_{i}
# ```
#
# Earlier tokens never look at later ones. So a key or a value never changes once it is made: that is why it can be
# kept.

# %% [markdown] tags=["site-only"]
# ```python exec="1" result="python"
# from inspect import getsource
#
# from snippets.tiny_transformer import attend, attention_weights
#
# print("\n\n".join(map(getsource, (attention_weights, attend))))
# ```

# %% [markdown]
# ## Write the same text twice
#
# A model gives every letter a *logit*: how well it would fit next. `decode` takes the letter with the highest, again
# and again. The two ways differ in one line: without the cache, the kept keys and values are thrown away before each
# step, so that all tokens go through the model again.

# %% [markdown] tags=["site-only"]
# This is its loop:
#
# ```python exec="1" result="python"
# from inspect import getsource
# from textwrap import dedent
#
# from snippets.tiny_transformer import decode
#
# loop = getsource(decode).partition("    for _ in")
# print(dedent("".join(loop[1:]).partition("    return")[0]))
# ```

# %% [markdown]
# **Predict.** Both ways start from the same letters. Do they write the same text? How far apart are their logits?

# %% reveal="Show what both wrote"
letters = "abcdefghijklmnopqrstuvwxyz "
prompt = [letters.index(letter) for letter in "kv cache"]
without, _ = decode(model, prompt, max_tokens=14, use_cache=False)
with_cache, cache = decode(model, prompt, max_tokens=14, use_cache=True)

for name, steps in (("without", without), ("with", with_cache)):
    text = "".join(letters[step.token] for step in steps)
    print(f"{name:<8} kv cache -> {text}")

pairs = list(zip(without, with_cache, strict=True))
gaps = [abs(x - y) for a, b in pairs for x, y in zip(a.logits, b.logits, strict=True)]
print("letters that differ:     ", sum(a.token != b.token for a, b in pairs))
print("largest logit difference:", max(gaps))

# %% [markdown] tags=["answer"]
# The same, to the last bit. The cache is no approximation: it only saves computing the same numbers again. (On a GPU
# the order of additions can differ between the two ways, and with it the last bits.)

# %% tags=["answer"]
assert max(gaps) == 0  # the page is not built unless this holds

# %% [markdown]
# ## Count one step
#
# A *position* is one token put through all layers. A *score* is one query times one key, in one head of one layer.
#
# **Predict.** At a step with `#!math n` tokens so far, how many positions are computed, and how many scores in one
# head: without the cache, and with it? In which step are both equal?

# %% reveal="Show every step"
heads = config.num_hidden_layers * config.num_attention_heads

works = {str(n): (a.work, b.work) for n, (a, b) in enumerate(pairs, len(prompt))}
works["all"] = total(without), total(with_cache)

print("        positions         scores")
print("  n  without with   without with")
for n, (a, b) in works.items():
    scores = f"{a.scores // heads:>10,}{b.scores // heads:>5}"
    print(f"{n:>3}{a.positions:>9}{b.positions:>5}{scores}")

# %% [markdown] tags=["answer"]
# Without the cache, every token's query meets every key up to its own: `#!math 1 + 2 + \dots + n = n(n+1)/2` scores.
# With it, only the new token's query is there, and it meets `#!math n` keys. The first step is the prompt: nothing
# is kept yet, so both do the same. That step is called prefill.
#
# Now compare the last row with the totals. With the cache, all steps together cost what the last step alone costs
# without it: every position and every score is computed once. [The lesson](../lessons/kv-cache.md) draws it.

# %% tags=["answer"]
assert total(with_cache).scores == without[-1].work.scores
assert total(with_cache).positions == without[-1].work.positions

# %% [markdown]
# ## Let the text grow
#
# Now start from a single letter and take 4, 8, 16 and 32 steps, so that step `#!math n` sees `#!math n` letters.
# Multiply-accumulates are counted in two parts: *attention* (query times key, weight times value) and *linear*
# (projections, MLP and output head).
#
# **Predict.** Twice the steps: is attention with the cache then two, four or eight times the work? And without the
# cache?

# %% reveal="Show how the work grows"
fast, _ = decode(model, prompt[:1], max_tokens=32, use_cache=True)
slow, _ = decode(model, prompt[:1], max_tokens=32, use_cache=False)

for kind in ("attention", "linear"):
    print(f"{kind:<9}   with         without")
    before = [0, 0]
    for n in (4, 8, 16, 32):
        now = [getattr(total(steps[:n]), kind) for steps in (fast, slow)]
        both = zip(before, now, strict=True)
        grown = [f"{b / a:.1f}x" if a else "" for a, b in both]
        print(f"{n:>7} {now[0]:>8,} {grown[0]:>4} {now[1]:>10,} {grown[1]:>4}")
        before = now

# %% [markdown] tags=["answer"]
# - **Attention, with the cache:** `#!math 1 + 2 + \dots + n = \frac{n(n+1)}{2}` scores. Quadratic: towards four times.
# - **Attention, without:** `#!math \frac{n(n+1)(n+2)}{6}` scores. Cubic: towards eight times.
# - **Linear, with the cache:** `#!math n` positions. Twice.
# - **Linear, without:** `#!math \frac{n(n+1)}{2}` positions. Quadratic: towards four times.
#
# The cache takes away one power of `#!math n`, no more. A step with the cache is not constant work: it still reads
# one row more than the step before, and over a whole text attention stays quadratic.

# %% [markdown]
# ## Count the bytes
#
# What does it cost? The cache holds real rows, so its bytes can be counted. Each token leaves one key and one value
# per layer and KV head. A row has `head_dim` numbers, and a Python float takes eight bytes.
#
# **Predict.** How many bytes are held after the last step? Mind how many tokens have rows by then, and which heads
# have.

# %% reveal="Show the bytes"
tiny = ModelConfig(
    "tiny",
    num_layers=config.num_hidden_layers,
    num_kv_heads=config.num_key_value_heads,
    head_dim=config.head_dim,
    dtype_bytes=cache.keys[0][0][0].itemsize,
)
lines = {
    "letters in the text": len(prompt) + len(with_cache),
    "tokens with rows": cache.num_tokens,
    "bytes counted": cache.num_bytes(),
    "bytes by the formula": kv_bytes(tiny, cache.num_tokens),
    "for one token": kv_bytes(tiny, seq_len=1),
    QWEN2_5_7B.name: kv_bytes(QWEN2_5_7B, seq_len=1),
}
for name, value in lines.items():
    print(f"{name:<20} {value:>8,}")

# %% [markdown] tags=["answer"]
# The formula counts what is there: two rows, times layers, KV heads, numbers per row, bytes per number, tokens. The
# query heads leave nothing behind. The last letter has no row yet: it was chosen, but has not been put through the
# model.
#
# The same formula gives the last line, one token of a real model. From here on it is that size that counts:
# [the lesson](../lessons/kv-cache.md) lays it out on a card.

# %% tags=["answer"]
assert cache.num_bytes() == kv_bytes(tiny, cache.num_tokens)

# %% [markdown]
# ## Change one thing
#
# Run the notebook with one of these, and predict before you look:
#
# - `TinyConfig(num_key_value_heads=4)`: every query head gets a KV head of its own. What happens to the bytes?
# - `TinyConfig(num_key_value_heads=1)`: one KV head for all. What happens to the bytes, and to the attention work?
# - A prompt three times as long: which step grows most, and does it grow with the cache too?
#
# Then take the sizes of real models to [the explorer](../explore/kv-cache.md).
