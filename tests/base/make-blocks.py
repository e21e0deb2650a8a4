#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/base/blocks.json: tensors of block-scaled formats as files hold them, and their values.

    make-blocks.py FILE

The values are exact fractions, decoded here from the specifications alone: OCP Microscaling Formats 1.0
for MX, and NVIDIA's description of NVFP4.
"""
import json
import random
import struct
import sys
from fractions import Fraction

# exponent bits, fraction bits, bias
ELEMENTS = {'e4m3': (4, 3, 7), 'e5m2': (5, 2, 15), 'e2m3': (2, 3, 1), 'e3m2': (3, 2, 3), 'e2m1': (2, 1, 1)}
FORMATS = {'mxfp8_e4m3': ('e4m3', 32), 'mxfp8_e5m2': ('e5m2', 32), 'mxfp6_e2m3': ('e2m3', 32),
           'mxfp6_e3m2': ('e3m2', 32), 'mxfp4': ('e2m1', 32), 'mxint8': (None, 32), 'nvfp4': ('e2m1', 16)}


def element(kind, code):
    """A fraction; None: NaN; 'inf' and '-inf'."""
    if kind is None:
        return Fraction(code - 256 if code > 127 else code, 64)
    exponent_bits, fraction_bits, bias = ELEMENTS[kind]
    sign = -1 if code >> (exponent_bits + fraction_bits) & 1 else 1
    exponent = code >> fraction_bits & ((1 << exponent_bits) - 1)
    fraction = code & ((1 << fraction_bits) - 1)
    if kind == 'e4m3' and exponent == 15 and fraction == 7:
        return None
    if kind == 'e5m2' and exponent == 31:
        return None if fraction else ('inf' if sign > 0 else '-inf')
    if exponent == 0:
        return sign * Fraction(fraction, 1 << fraction_bits) * Fraction(2) ** (1 - bias)
    return sign * (1 + Fraction(fraction, 1 << fraction_bits)) * Fraction(2) ** (exponent - bias)


def scale_of(name, code):
    if name == 'nvfp4':
        return element('e4m3', code)
    return None if code == 255 else Fraction(2) ** (code - 127)


def value(name, kind, code, scale, whole):
    e, s = element(kind, code), scale_of(name, scale)
    if e is None or s is None:
        return 'nan'
    if isinstance(e, str):
        return e
    product = e * s * whole
    number = float(product)
    assert Fraction(number) == product
    return number.hex()


def tensor(name):
    random_ = random.Random(name)
    kind, size = FORMATS[name]
    rows, columns = 3, 50
    bits = 8 if kind is None else 1 + sum(ELEMENTS[kind][:2])
    blocks = -(-columns // size)
    codes = [[random_.randrange(1 << bits) for _ in range(columns)] for _ in range(rows)]
    scales = [[random_.choice([random_.randrange(100, 150), random_.randrange(256)]) for _ in range(blocks)]
              for _ in range(rows)]
    if name == 'nvfp4':
        scales = [[random_.randrange(127) for _ in range(blocks)] for _ in range(rows)]
    whole = float.fromhex('0x1.28p-11') if name == 'nvfp4' else 1.0
    values = [value(name, kind, codes[r][c], scales[r][c // size], Fraction(whole))
              for r in range(rows) for c in range(columns)]
    flat = bytes(c for row in codes for c in row)
    if bits == 4:
        low = bytes(a | b << 4 for a, b in zip(flat[::2], flat[1::2]))
        high = bytes(a << 4 | b for a, b in zip(flat[::2], flat[1::2]))
    else:
        low = high = b''
    return {'format': name, 'shape': [rows, columns], 'scale_shape': [rows, blocks], 'tensor_scale': whole,
            'codes': flat.hex(), 'low_first': low.hex(), 'high_first': high.hex(),
            'scales': bytes(s for row in scales for s in row).hex(),
            'tensor_scale_bytes': struct.pack('<f', whole).hex(), 'values': values}


if __name__ == '__main__':
    with open(sys.argv[1], 'w', encoding='utf-8') as handle:
        handle.write('{"tensors": [\n%s\n]}\n' % ',\n'.join(json.dumps(tensor(name)) for name in FORMATS))
