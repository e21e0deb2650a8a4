#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reference for instructions, in exact numbers: reads lines "opcode a b c" (operands in hexadecimal), writes one
result a line. Rounding is done on fractions, after IEEE 754-2019, 4.3; the rest follows the text of the PTX ISA."""
import sys
from fractions import Fraction

# bits of exponent and fraction
FORMATS = {"f32": (8, 23), "f16": (5, 10), "bf16": (8, 7)}
NAN = {"f32": 0x7FFFFFFF, "f16": 0x7FFF, "bf16": 0x7FFF}


class Number:
    """A value of a format: sign, kind ('nan', 'inf' or 'finite'), and what it is."""

    def __init__(self, bits, name):
        exponent_bits, fraction_bits = FORMATS[name]
        self.name = name
        self.sign = bits >> (exponent_bits + fraction_bits) & 1
        exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1)
        fraction = bits & ((1 << fraction_bits) - 1)
        self.tiny = exponent == 0
        if exponent == (1 << exponent_bits) - 1:
            self.kind = "nan" if fraction else "inf"
            self.value = None
            return
        self.kind = "finite"
        bias = (1 << (exponent_bits - 1)) - 1
        whole = fraction if exponent == 0 else fraction | 1 << fraction_bits
        power = max(exponent, 1) - bias - fraction_bits
        self.value = Fraction(whole) * Fraction(2) ** power * (-1 if self.sign else 1)

    def flushed(self):
        if self.kind == "finite" and self.tiny:
            self.value = Fraction(0)
        return self


def rounded(value, sign_of_zero, name, flush):
    """Bits of the nearest number, ties to even."""
    exponent_bits, fraction_bits = FORMATS[name]
    bias = (1 << (exponent_bits - 1)) - 1
    top = exponent_bits + fraction_bits
    if value == 0:
        return sign_of_zero << top
    sign = value < 0
    size = abs(value)
    exponent = 1 - bias
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    steps = size / Fraction(2) ** (exponent - fraction_bits)
    whole = steps.numerator // steps.denominator
    rest = steps - whole
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1):
        whole += 1
    bits = whole if whole < 1 << fraction_bits else whole + ((exponent + bias - 1) << fraction_bits)
    most = ((1 << exponent_bits) - 1) << fraction_bits
    if flush and bits >> fraction_bits == 0:
        bits = 0
    return min(bits, most) | sign << top


def infinite(sign, name):
    exponent_bits, fraction_bits = FORMATS[name]
    return (sign << exponent_bits | (1 << exponent_bits) - 1) << fraction_bits


def product_sum(a, b, c, name, flush):
    """a * b + c, rounded once."""
    if "nan" in (a.kind, b.kind, c.kind):
        return NAN[name]
    sign = a.sign ^ b.sign
    endless = "inf" in (a.kind, b.kind)
    if endless and 0 in (a.value, b.value):
        return NAN[name]
    if endless or c.kind == "inf":
        if endless and c.kind == "inf" and sign != c.sign:
            return NAN[name]
        return infinite(sign if endless else c.sign, name)
    exact = a.value * b.value + c.value
    both_zero = a.value * b.value == 0 and c.value == 0
    zero = sign if both_zero and sign == c.sign else 0
    return rounded(exact, zero, name, flush)


def chosen(greatest, a, b, name, parts, bits_a, bits_b):
    """min and max with .xorsign.abs, after the ISA's description."""
    exponent_bits, fraction_bits = FORMATS[name]
    top = 1 << (exponent_bits + fraction_bits)
    flush = "ftz" in parts

    def magnitude(number, bits):
        return 0 if flush and number.kind == "finite" and number.tiny else bits & (top - 1)

    if a.kind == "nan" and b.kind == "nan" or "NaN" in parts and "nan" in (a.kind, b.kind):
        return NAN[name]
    x, y = magnitude(a, bits_a), magnitude(b, bits_b)
    if a.kind == "nan":
        size = y
    elif b.kind == "nan":
        size = x
    else:
        size = max(x, y) if greatest else min(x, y)  # magnitudes order as their bits do
    return size | (bits_a ^ bits_b) & top


# prmt: for each mode, the bytes taken for the two lowest bits of the selector, most significant first.
BYTES = {
    "f4e": ["3210", "4321", "5432", "6543"],
    "b4e": ["5670", "6701", "7012", "0123"],
    "rc8": ["0000", "1111", "2222", "3333"],
    "ecl": ["3210", "3211", "3222", "3333"],
    "ecr": ["0000", "1110", "2210", "3210"],
    "rc16": ["1010", "3232", "1010", "3232"],
}


def permuted(mode, a, b, c):
    source = a.to_bytes(4, "little") + b.to_bytes(4, "little")
    return int.from_bytes(bytes(source[int(i)] for i in BYTES[mode][c & 3]), "big")


def single(parts, name, a, b, c):
    operation = parts[0]
    x, y, z = (Number(bits, name) for bits in (a, b, c))
    if operation in ("min", "max"):
        return chosen(operation == "max", x, y, name, parts, a, b)
    flush = "ftz" in parts
    if flush:
        x, y, z = x.flushed(), y.flushed(), z.flushed()
    one, zero = Number(0x3F800000, "f32"), Number(0x80000000, "f32")
    if operation == "add":
        return product_sum(x, one, y, name, flush)
    if operation == "sub":
        y.sign ^= 1
        y.value = None if y.value is None else -y.value
        return product_sum(x, one, y, name, flush)
    if operation == "mul":
        if x.kind == y.kind == "finite" and x.value * y.value == 0:
            return (x.sign ^ y.sign) << 31
        return product_sum(x, y, zero, name, flush)
    return product_sum(x, y, z, name, flush)


def video(parts, a, b, c):
    """Two numbers of 16 bits or four of 8: PTX ISA, "Video Instructions"."""
    count, kinds, more = int(parts[0][-1]), parts[1:4], parts[4:]
    bits = 32 // count

    def pieces(word, kind):
        values = [word >> (bits * i) & ((1 << bits) - 1) for i in range(count)]
        return [v - (1 << bits) if kind == "s32" and v >> (bits - 1) else v for v in values]

    works = {
        "vadd": lambda x, y: x + y,
        "vsub": lambda x, y: x - y,
        "vavrg": lambda x, y: (x + y + (1 if x + y >= 0 else 0)) // 2,
        "vabsdiff": lambda x, y: abs(x - y),
        "vmin": min,
        "vmax": max,
    }
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kinds[0] == "s32" else (0, (1 << bits) - 1)
    values = [works[parts[0][:-1]](x, y) for x, y in zip(pieces(a, kinds[1]), pieces(b, kinds[2]))]
    if more == ["sat"]:
        values = [max(least, min(most, v)) for v in values]
    packed = sum((v & ((1 << bits) - 1)) << (bits * i) for i, v in enumerate(values))
    if more == ["add"]:
        return (c + sum(pieces(packed, kinds[0]))) & 0xFFFFFFFF
    return packed


def result(opcode, a, b, c):
    parts = opcode.split(".")
    if parts[0][0] == "v":
        return video(parts, a, b, c)
    if parts[0] == "prmt":
        return permuted(parts[-1], a, b, c)
    name = parts[-1]
    count = 2 if name.endswith("x2") else 1
    name = name[:-2] if count == 2 else name
    width = 32 if name == "f32" else 16
    total = 0
    for i in range(count):
        low = [value >> (width * i) & ((1 << width) - 1) for value in (a, b, c)]
        total |= single(parts, name, *low) << (width * i)
    return total


for line in sys.stdin:
    fields = line.split()
    print("%x" % result(fields[0], *(int(field, 16) for field in fields[1:])))
