"""Orders of nodes that need less memory."""

from optimizer.memory.order.application import apply_order
from optimizer.memory.order.registry import ORDERS, Method, Order, reorder

__all__ = ["ORDERS", "Method", "Order", "apply_order", "reorder"]
