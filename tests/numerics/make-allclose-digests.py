#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/numerics/allclose-digests.json: what NumPy's isclose says about a million pairs.

    make-allclose-digests.py FILE

The pairs follow from integers alone (see `pairs`), so that the test makes the same ones. A row holds a
type, the constants, whether NaN equals NaN, the order of operands, the number of mismatches, and the
SHA-256 of the numbers of mismatches in runs of 20, a byte each.
"""
import hashlib
import json
import sys

import numpy as np

COUNT, RUN = 1000000, 20
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 2.0 ** -149, -2.0 ** -149, 2.0 ** -1074,
                    np.finfo(np.float32).max, -np.finfo(np.float32).max, 2.0 ** -126, 1.0, -1.0,
                    1e-8, 1e-5, 0.5], np.float64)
STEPS = np.array([0, 0.5, 0.9, 0.99, 0.999999, 1, 1, 1, 1, 1.000001, 1.01, 1.1, -0.5, -1, -1, -1.000001],
                 np.float64)


def mixed(seed):
    """SplitMix64 of the numbers from 0."""
    with np.errstate(over='ignore'):
        z = (np.arange(COUNT, dtype=np.uint64) + np.uint64(1 + seed * COUNT)) * np.uint64(0x9e3779b97f4a7c15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
        return z ^ (z >> np.uint64(31))


def pairs(atol, rtol, dtype):
    """References of 2^-21 to 2^10, candidates about as far away as is allowed, and a sixteenth special."""
    a, b = mixed(0), mixed(1)
    exponent = a % np.uint64(31) + np.uint64(1023 - 21)
    bits = (a & np.uint64(1 << 63)) | exponent << np.uint64(52) | (a >> np.uint64(5)) & np.uint64((1 << 52) - 1)
    r = bits.view(np.float64).astype(dtype).astype(np.float64)
    c = r + STEPS[(b & np.uint64(15)).astype(int)] * (atol + rtol * np.abs(r))
    both = (b >> np.uint64(4)) % np.uint64(16) == 0
    one = SPECIAL[(b >> np.uint64(8) & np.uint64(15)).astype(int)]
    other = SPECIAL[(b >> np.uint64(12) & np.uint64(15)).astype(int)]
    with np.errstate(over='ignore', under='ignore'):
        return np.where(both, one, c).astype(dtype), np.where(both, other, r).astype(dtype)


def rows():
    for dtype in (np.float64, np.float32):
        for atol, rtol in ((1e-8, 1e-5), (1e-2, 1e-2), (0.0, 1e-7), (1e-3, 0.0)):
            c, r = pairs(atol, rtol, dtype)
            for swapped in (False, True):
                for equal_nan in (False, True):
                    x, y = (r, c) if swapped else (c, r)
                    with np.errstate(all='ignore'):
                        close = np.isclose(x.astype(np.float64), y.astype(np.float64), rtol, atol, equal_nan)
                    misses = (~close).reshape(-1, RUN).sum(axis=1).astype(np.uint8)
                    yield {'dtype': np.dtype(dtype).name, 'atol': atol, 'rtol': rtol, 'swapped': swapped,
                           'equal_nan': equal_nan, 'mismatches': int(misses.sum()),
                           'digest': hashlib.sha256(misses.tobytes()).hexdigest()}


if __name__ == '__main__':
    LINES = [json.dumps(row) for row in rows()]
    with open(sys.argv[1], 'w', encoding='utf-8') as handle:
        handle.write('{"made": {"numpy": "%s"},\n"rows": [\n%s\n]}\n' % (np.__version__, ',\n'.join(LINES)))
