"""Another project's rules, match by match: each match a step whose provenance is exact.

A worker finds all matches on a copy; here each becomes a replacement. What the worker made of the
copy is compared with the source before any of them is yielded: where it differs, halving finds the
match that broke it, which is named and not asked for again. So is a match that is vetoed or
refused. Once all are in place, or one was left out, the rules are asked again, until they find
nothing more; what they say then of places that nearly fit are the near misses.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import onnx
import onnx_ir as ir

from optimizer.errors import ToolError
from optimizer.imported import jobs
from optimizer.imported.matches import AddedNode, Found, FoundMatch, NearMiss, Numbering
from optimizer.imported.steps import WHOLE, Asked, Tool, asking
from optimizer.model.writer import write
from optimizer.numbers import counted
from optimizer.registry import Change
from optimizer.rules import Context, Declined, NewInitializer, NewNode, Operand, Replacement

MAX_MATCHES = 10_000
"""Of one search."""
MAX_SEARCHES = 64

Ban = tuple[str, str]


def changes_by_match(tool: Tool, model: ir.Model, context: Context) -> Iterator[Change]:
    """What a tool's rules would do, match by match.

    Raises:
        ToolError: there are no such rules, or the tool cannot be asked.
    """
    with asking(tool, model, context) as asked:
        if isinstance(asked, Declined):
            yield Change(WHOLE, asked)
        else:
            yield from _ByMatch(asked, context).changes()


@dataclass(slots=True)
class _Broken:
    """A match that breaks the model, and what is wrong then."""

    match: FoundMatch
    problem: str


@dataclass(slots=True)
class _Board:
    """Objects of the model by the names that both processes have for them."""

    nodes: dict[str, ir.Node]
    values: dict[str, ir.Value]
    fresh: dict[str, NewNode] = field(default_factory=dict[str, NewNode])
    constants: dict[str, NewInitializer] = field(default_factory=dict[str, NewInitializer])

    def operand(self, name: str) -> Operand:
        """A value that is there by now, or will be by this match."""
        if name in self.constants:
            return self.constants[name]
        owner, _, index = name.rpartition(":")
        new = self.fresh.get(owner)
        return self.values[name] if new is None else new.output(int(index))

    def settle(self, made: Mapping[NewNode, ir.Node]) -> None:
        """What was new is there."""
        names = {id(new): name for name, new in self.fresh.items()}
        held = {id(constant): name for name, constant in self.constants.items()}
        for new, node in made.items():
            Numbering(self.nodes, self.values).add(names[id(new)], node)
            for operand, value in zip(new.inputs, node.inputs, strict=True):
                if isinstance(operand, NewInitializer) and value is not None:
                    self.values[held[id(operand)]] = value
                    self.constants.pop(held[id(operand)], None)
        self.fresh.clear()


class _ByMatch:
    def __init__(self, asked: Asked, context: Context) -> None:
        self.asked, self.context = asked, context
        self.banned: dict[Ban, None] = {}
        self.in_place = False
        self.steps = 0

    def changes(self) -> Iterator[Change]:
        """Searches, and the matches of each, until nothing is found."""
        asked = self.asked
        write(asked.model, asked.source)
        for _ in range(MAX_SEARCHES):
            found, broken = self._sound(self._search(MAX_MATCHES))
            counted_now = Numbering.of(asked.model)
            board = _Board(counted_now.nodes, counted_now.values)
            yield from self._carry_out(found.matches, board)
            if broken is not None:
                yield self._failed(broken, board)
            elif not found.matches:
                yield from self._near(found.near_misses)
                return
            write(asked.model, asked.source)
        yield Change(WHOLE, Declined(f"It still finds something after {MAX_SEARCHES} searches"))

    # ---- the worker's part

    def _search(self, most: int) -> Found:
        asked = self.asked
        made = asked.folder / "made.onnx"
        options, banned = asked.tool.options, [*self.banned]
        return asked.call(jobs.find_matches, asked.source, made, options, banned, most)

    def _sound(self, found: Found) -> tuple[Found, _Broken | None]:
        """As many of the matches as leave outputs as they are, and the one that does not."""
        asked = self.asked
        if not found.matches:
            return found, None
        asked.run_source()
        problem = asked.faults_of(asked.folder / "made.onnx")
        if not problem:
            return found, None
        ends = [0, *(n for n, match in enumerate(found.matches, start=1) if match.closed)]
        ends = ends if ends[-1] == len(found.matches) else [*ends, len(found.matches)]
        good, bad = 0, len(ends) - 1
        while bad - good > 1:
            middle = (good + bad) // 2
            self._search(ends[middle])
            told = asked.faults_of(asked.folder / "made.onnx")
            good, bad, problem = (good, middle, told) if told else (middle, bad, problem)
        match = found.matches[ends[bad] - 1]
        self.banned[match.rule, match.place] = None
        return Found(found.matches[: ends[good]], found.near_misses), _Broken(match, problem)

    # ---- steps

    def _carry_out(self, matches: Sequence[FoundMatch], board: _Board) -> Generator[Change]:
        """One change a match, up to the first that is not taken."""
        for number, match in enumerate(matches, start=1):
            self.in_place = False
            yield self._change(match, board, last=number == len(matches))
            if not self.in_place:
                self.banned[match.rule, match.place] = None
                yield from self._checked(match, number - 1)
                return
            self.steps += 1

    def _checked(self, left_out: FoundMatch, steps: int) -> Iterator[Change]:
        """What was not looked at yet: steps before one that was left out, without what follows."""
        if steps:
            try:
                self.asked.accept(f"steps before {left_out.rule}")
            except ToolError as error:
                yield Change(left_out.rule, error)

    def _change(self, match: FoundMatch, board: _Board, *, last: bool) -> Change:
        matched = [board.nodes[name] for name in match.matched]
        root = matched[0]
        for node in matched[1:]:
            root = node if self.context.precedes(root, node) else root
        for constant in match.constants:
            tensor = ir.from_proto(onnx.TensorProto.FromString(constant.tensor))
            board.constants[constant.name] = NewInitializer(tensor, constant.hint)
        board.fresh = {}
        for node in match.nodes:
            board.fresh[node.name] = _new(node, board)
        values = {board.values[old]: board.operand(new) for old, new in match.values}
        asked = self.asked

        def accept() -> None:
            if last:
                asked.accept(match.rule)
            self.in_place = True

        proposal = Replacement(
            matched, values, self._reason(match), list(board.fresh.values()),
            opsets=dict(match.opsets), delays=len(values) > 1, accept=accept,
        )  # fmt: skip
        return Change(match.rule, proposal, root, board.settle)

    def _reason(self, match: FoundMatch) -> str:
        compared = self.asked.not_run
        agreed = f"not compared: {compared}" if compared else "outputs agree"
        took = counted(len(match.matched), "node")
        return f"{self.asked.title}, {match.rule}: {len(match.nodes)} new for {took}; {agreed}."

    def _failed(self, broken: _Broken, board: _Board) -> Change:
        error = self.asked.error(broken.match.rule, f"breaks the model: {broken.problem}")
        root = board.nodes.get(broken.match.matched[0])
        return Change(broken.match.rule, error, root)

    def _near(self, near_misses: Sequence[NearMiss]) -> Iterator[Change]:
        """What the last search says of places that nearly fit."""
        nodes = Numbering.of(self.asked.model).nodes
        for miss in near_misses:
            if miss.raised:
                yield Change(miss.rule, self._raised(miss), nodes[miss.root])
            else:
                about = tuple(nodes[name] for name in miss.nodes)
                yield Change(miss.rule, Declined(miss.reason, about, miss.unlock), nodes[miss.root])
        if not self.steps and not near_misses:
            yield Change(WHOLE, Declined(f"{self.asked.tool.name} found nothing to do"))

    def _raised(self, miss: NearMiss) -> ToolError:
        return self.asked.error(miss.rule, miss.reason)


def _new(node: AddedNode, board: _Board) -> NewNode:
    attributes = (ir.from_proto(onnx.AttributeProto.FromString(one)) for one in node.attributes)
    inputs = [None if name is None else board.operand(name) for name in node.inputs]
    return NewNode(
        node.op_type, inputs, {one.name: one for one in attributes}, node.domain, node.outputs
    )
