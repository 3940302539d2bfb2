"""What every count needs: the config's fields, the split, how matrices are stored and which stay in 16 bits."""

from __future__ import annotations

from dataclasses import dataclass, replace

from snippets.model_config.fields import Fields
from snippets.model_config.model_config import ModelConfig
from snippets.planner.weights.errors import WeightsError
from snippets.planner.weights.recipe import Recipe
from snippets.planner.weights.split import Split
from snippets.planner.weights.storage.matrices import linear
from snippets.planner.weights.storage.scheme import PLAIN, Scheme
from snippets.planner.weights.storage.size import Size, vector
from snippets.planner.weights.storage.skipped import Skipped

FP32 = 4  # bytes


@dataclass(frozen=True)
class Counting:
    """One model on one rank."""

    config: ModelConfig
    text: Fields  # the decoder's fields, class defaults behind them
    root: Fields
    recipe: Recipe
    split: Split
    scheme: Scheme
    skipped: Skipped
    plain_bytes: int  # of a number that is not quantised
    expert_padding: tuple[int, int]  # mxfp4: multiples of hidden and intermediate size
    layer_names: frozenset[str] = frozenset()  # what the checkpoint leaves in 16 bits in the layer being counted

    @property
    def hidden(self) -> int:
        """hidden_size."""
        return self.config.hidden_size

    def in_layer(self, names: frozenset[str]) -> Counting:
        """The same for a layer with its own list of unquantised modules."""
        return replace(self, layer_names=names) if names != self.layer_names else self

    def number(self, key: str, default: int | None = None) -> int:
        """A field that sizes a weight. Raises WeightsError when it is absent and has no default."""
        value = self.text.optional_integer(key, minimum=0)
        if value is None:
            value = default
        if value is None:
            raise WeightsError(key, f"{key} is missing, and the weights depend on it.")
        return value

    def scheme_of(self, module: str) -> Scheme:
        """How a module's matrix is stored; `module` is its name below the layer ("mlp.down_proj")."""
        if self.scheme.kind == "plain" or self.skipped.skips(module, self.layer_names):
            return PLAIN
        return self.scheme

    def matrix(self, module: str, inputs: int, *outputs: int, bias: int = 0, all_inputs: int = 0) -> Size:
        """A linear layer; `bias` is its length on this rank, 0 for none."""
        weight = linear(self.scheme_of(module), inputs, outputs, self.plain_bytes, all_inputs)
        return weight + vector(bias, self.plain_bytes)

    def plain_matrix(self, inputs: int, *outputs: int) -> Size:
        """A matrix that no scheme quantises: routers, gates, convolutions."""
        return linear(PLAIN, inputs, outputs, self.plain_bytes)

    def numbers(self, length: int) -> Size:
        """A vector in the model's dtype."""
        return vector(length, self.plain_bytes)

    def float32(self, length: int) -> Size:
        """A vector kept in 32 bits."""
        return vector(length, FP32)

    def norm(self, length: int) -> Size:
        """RMSNorm has a weight, LayerNorm also a bias."""
        return self.numbers(length * (2 if self.recipe.layer_norm else 1))
