"""JAX as it comes, without 64-bit types, for calls that are made again."""

import jax
from frameworks import jax_adapter

jax.config.update("jax_enable_x64", False)


class Adapter(jax_adapter.Adapter):
    """JAX without 64-bit types."""
