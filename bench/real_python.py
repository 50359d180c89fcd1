"""
A program for bench/real.py: what a service in Python does, in turns.  Functions that call functions, JSON, sorting, text, and
small arrays where numpy is installed.
"""

import json

import real_turns

try:
    import numpy
except ImportError:
    numpy = None

DEPTH = 40
ORDERS = [{"id": i, "name": f"customer {i % 7}", "items": [{"sku": j, "price": i * j % 97} for j in range(12)]}
          for i in range(40)]  # fmt: skip
TEXT = json.dumps(ORDERS)


def price(order):
    return sum(item["price"] for item in order["items"])


def by_customer(orders):
    found = {}
    for order in orders:
        found.setdefault(order["name"], []).append(price(order))
    return found


def summary(orders):
    lines = [f"{name}: {sum(prices)} in {len(prices)}" for name, prices in sorted(by_customer(orders).items())]
    return "\n".join(lines)


def smooth(orders):
    if numpy is None:
        return 0
    prices = numpy.array([price(order) for order in orders], dtype=float)
    for _ in range(8):
        prices = (prices[:-1] + prices[1:]) * 0.5
    return float(numpy.sort(prices).sum())


def handle(depth):
    """As deep as the frameworks of services are."""
    if depth:
        return handle(depth - 1)
    orders = json.loads(TEXT)
    return summary(orders), smooth(orders), json.dumps(orders[:10])


if __name__ == "__main__":
    real_turns.count(lambda: handle(DEPTH))
