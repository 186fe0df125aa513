"""Orders of nodes that need less memory."""

from optimizer.memory.order.application import apply_order
from optimizer.memory.order.registry import ORDERS, Order, ordered_arena, reorder

__all__ = ["ORDERS", "Order", "apply_order", "ordered_arena", "reorder"]
