"""Loops over SIMD vectors for numba, written as LLVM code: what must stay in registers from the first turn to the last.

Import this module only inside the function that needs it.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils

FUSED = ("contract",)  # a product and a sum may become one fused instruction
INDEX = ir.IntType(64)
WIDE = "avx512f" in binding.get_host_cpu_features()  # 32 registers of 16 floats; elsewhere 16 registers of 8
_LANE = ir.IntType(32)


def pointer(context: Any, builder: ir.IRBuilder, kind: Any, array: Any, offset: Any) -> Any:
    """Point at element ``offset`` of a flat array."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [offset])


def loop(
    builder: ir.IRBuilder,
    start: Any,
    stop: Any,
    state: Sequence[Any],
    step: Callable[[Any, list[Any]], list[Any]],
    by: int = 1,
) -> list[Any]:
    """``for k in range(start, stop, by): state = step(k, state)``, with the state in registers throughout."""
    before = builder.block
    body = builder.append_basic_block("body")
    after = builder.append_basic_block("after")
    builder.cbranch(builder.icmp_signed("<", start, stop), body, after)

    builder.position_at_end(body)
    k = builder.phi(start.type)
    inside = [builder.phi(value.type) for value in state]
    stepped = step(k, inside)
    following = builder.add(k, start.type(by))
    for phi, first, again in zip([k, *inside], [start, *state], [following, *stepped], strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(again, body)
    builder.cbranch(builder.icmp_signed("<", following, stop), body, after)

    builder.position_at_end(after)
    outside = [builder.phi(value.type) for value in state]
    for phi, first, last in zip(outside, state, stepped, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(last, body)
    return outside


def prefetch(builder: ir.IRBuilder, address: Any, nearness: int) -> None:
    """Ask for the cache line at this address, which need not be one of ours; 3 is the nearest cache, 1 the farthest."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, _LANE, _LANE, _LANE])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    builder.call(function, [builder.bitcast(address, byte), _LANE(0), _LANE(nearness), _LANE(1)])


class Vectors:
    """Vectors of so many float32 numbers."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.type = ir.VectorType(ir.FloatType(), lanes)
        self.zero = ir.Constant(self.type, [0.0] * lanes)

    def load(self, builder: ir.IRBuilder, address: Any, offset: Any = 0) -> Any:
        """Load the vector that begins ``offset`` numbers behind an address."""
        return builder.load(self._at(builder, address, offset), align=4)

    def store(self, builder: ir.IRBuilder, vector: Any, address: Any, offset: Any = 0) -> None:
        """Store a vector ``offset`` numbers behind an address."""
        builder.store(vector, self._at(builder, address, offset), align=4)

    def _at(self, builder: ir.IRBuilder, address: Any, offset: Any) -> Any:
        place = INDEX(offset) if isinstance(offset, int) else offset
        return builder.bitcast(builder.gep(address, [place]), self.type.as_pointer())

    def splat(self, builder: ir.IRBuilder, number: Any) -> Any:
        """Repeat one number over a whole vector."""
        undefined = ir.Constant(self.type, ir.Undefined)
        first = builder.insert_element(undefined, number, _LANE(0))
        return builder.shuffle_vector(first, undefined, _lanes([0] * self.lanes))

    def add_product(self, builder: ir.IRBuilder, total: Any, a: Any, b: Any) -> Any:
        """Return total + a · b."""
        return builder.fadd(builder.fmul(a, b, flags=FUSED), total, flags=FUSED)

    def total(self, builder: ir.IRBuilder, vector: Any) -> Any:
        """Return the sum of the lanes, halves first."""
        width = self.lanes
        while width > 1:
            width //= 2
            undefined = ir.Constant(vector.type, ir.Undefined)
            low, high = (
                builder.shuffle_vector(vector, undefined, _lanes(range(start, start + width))) for start in (0, width)
            )
            vector = builder.fadd(low, high)
        return builder.extract_element(vector, _LANE(0))


def _lanes(numbers: Sequence[int]) -> Any:
    return ir.Constant(ir.VectorType(_LANE, len(numbers)), list(numbers))
