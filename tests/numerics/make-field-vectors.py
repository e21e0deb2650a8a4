#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/numerics/field-vectors.json: what other libraries say about small arrays.

    make-field-vectors.py FILE

needs NumPy, and takes PyTorch and JAX where they can be imported; what is not there keeps the rows of
the file that is there already. A row holds a rule's name, a type, the codes of candidate, reference (and
gold), and the library's verdict: accepted, and the number of mismatches (-1 where it does not say).
Rules of suites that are no library (CUTLASS, SOL-ExecBench, TransformerEngine's C++, Polygraphy,
FlashAttention) are written down here once more, in the arithmetic of NumPy or PyTorch.
"""
import json
import random
import re
import sys

import numpy as np

try:
    import torch
except ImportError:
    torch = None
try:
    import jax
    from jax._src import public_test_util
    import ml_dtypes
    jax.config.update('jax_enable_x64', True)
except ImportError:
    public_test_util = None

BITS = {'float16': np.uint16, 'bfloat16': np.uint16, 'float32': np.uint32, 'float64': np.uint64}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan]
EXTREME = {'float16': [65504, -65504, 6e-8, 60000], 'bfloat16': [3.38e38, -3.38e38, 1e-40, 1e38],
           'float32': [3.4e38, -3.4e38, 1e-45, 1.5], 'float64': [1.7e308, -1.7e308, 5e-324, 1.5]}


def encode(dtype, values):
    """Codes of doubles, rounded to nearest even."""
    if dtype != 'bfloat16':
        with np.errstate(over='ignore'):
            return np.array(values, np.float64).astype(dtype).view(BITS[dtype])
    wide = np.array(values, np.float32).view(np.uint32).astype(np.uint64)
    nan = (wide & 0x7fffffff) > 0x7f800000
    out = (wide + 0x7fff + (wide >> 16 & 1)) >> 16
    return np.where(nan, 0x7fc0, out & 0xffff).astype(np.uint16)


def decode(dtype, codes):
    """In the type where NumPy has it, else float32."""
    if dtype != 'bfloat16':
        return np.array(codes, BITS[dtype]).view(dtype)
    return (np.array(codes, np.uint32) << 16).view(np.float32)


def tensor(dtype, codes):
    if dtype == 'bfloat16':
        return torch.tensor(np.array(codes, np.uint16).view(np.int16).tolist(),
                            dtype=torch.int16).view(torch.bfloat16)
    kind = {'float16': torch.int16, 'float32': torch.int32, 'float64': torch.int64}[dtype]
    signed = np.array(codes, BITS[dtype]).view(BITS[dtype]().dtype.str.replace('u', 'i'))
    return torch.tensor(signed.tolist(), dtype=kind).view(getattr(torch, dtype))


def pair(random_, dtype, atol, rtol, special):
    """A reference, and a candidate about as far from it as is allowed."""
    if special and random_.random() < 0.3:
        pool = SPECIAL + EXTREME[dtype]
        r = random_.choice(pool)
        return (r if random_.random() < 0.6 else random_.choice(pool)), r
    r = random_.choice([-1, 1]) * 2 ** random_.uniform(-12, 6)
    r = float(decode(dtype, encode(dtype, [r]))[0])
    step = random_.choice([0, .5, .9, .99, .999, 1, 1, 1.001, 1.01, 1.1])
    return r + random_.choice([-1, 1]) * step * (atol + rtol * abs(r)), r


def says(check):
    try:
        check()
    except AssertionError as error:
        return False, str(error)
    return True, ''


def torch_close(dtype, c, r, **constants):
    accepted, text = says(lambda: torch.testing.assert_close(
        tensor(dtype, c), tensor(dtype, r), **constants))
    found = re.search(r'Mismatched elements: (\d+) /', text)
    return accepted, int(found.group(1)) if found else 0 if accepted else -1, text


def torch_all(dtype, c, r, atol, rtol, swapped=False):
    a, b = tensor(dtype, c), tensor(dtype, r)
    if swapped:
        a, b = b, a
    close = torch.isclose(a, b, atol=atol, rtol=rtol)
    return bool(torch.allclose(a, b, atol=atol, rtol=rtol)), int((~close).sum())


def numpy_all(dtype, c, r, swapped=False):
    a, b = decode(dtype, c), decode(dtype, r)
    if swapped:
        a, b = b, a
    return bool(np.allclose(a, b)), int((~np.isclose(a, b)).sum())


def numpy_assert(dtype, c, r, atol, rtol):
    a, b = decode(dtype, c), decode(dtype, r)
    close = np.isclose(a, b, atol=atol, rtol=rtol, equal_nan=True)
    return says(lambda: np.testing.assert_allclose(a, b, atol=atol, rtol=rtol))[0], \
        int((~close).sum())


def cutlass(dtype, c, r):
    a, b = decode(dtype, c), decode(dtype, r)
    epsilon, floor = a.dtype.type(0.05), a.dtype.type(1 / 256)
    difference, both = abs(a - b), abs(a) + abs(b)
    near = (a == 0) | (b == 0) | (both < floor)
    good = (a == b) | np.where(near, difference < epsilon * floor, difference < epsilon * both)
    return bool(good.all()), int((~good).sum())


def sol(dtype, c, r):
    a, b = decode(dtype, c).astype(np.float32), decode(dtype, r).astype(np.float32)
    error = abs(a - b)
    exceeds = (error > np.float32(1e-2) + np.float32(1e-2) * abs(b)) | ~np.isfinite(error)
    return bool(1 - exceeds.sum() / exceeds.size >= 0.99), int(exceeds.sum())


def engine_cpp(dtype, c, r, atol, rtol):
    a, b = decode(dtype, c).astype(np.float64), decode(dtype, r).astype(np.float64)
    wrong = (abs(a - b) > atol) & ((b == 0) | (abs((a - b) / b) > rtol))
    if dtype != 'float32':
        middle = (a + b) / 2
        sign = np.where(middle >= 0, 1, -1)
        up, down = [decode(dtype, encode(dtype, middle * (1 + s * sign * 1e-6))) for s in (1, -1)]
        wrong &= ~((down == np.minimum(a, b)) & (up == np.maximum(a, b)))
    return not wrong.any(), int(wrong.sum())


def polygraphy(dtype, c, r):
    a, b = decode(dtype, c).astype(np.float64), decode(dtype, r).astype(np.float64)
    error = abs(a - b)
    wrong = (error > 1e-5) & (error / np.where(b == 0, 2.220446049250313e-16, abs(b)) > 1e-5)
    return not wrong.any(), int(wrong.sum())


CLOSE = {'float16': (1e-3, 1e-5), 'bfloat16': (1.6e-2, 1e-5), 'float32': (1.3e-6, 1e-5),
         'float64': (1e-7, 1e-7)}
JAX = {'float16': 1e-3, 'bfloat16': 1e-2, 'float32': 1e-6, 'float64': 1e-15}
GRADIENT = {'float16': 1e-2, 'bfloat16': 1e-1, 'float32': 2e-3, 'float64': 1e-5}
BENCH = {'float16': 1e-2, 'bfloat16': 1e-2, 'float32': 1e-4}
CPP = {'float16': (1e-3, 1e-5), 'bfloat16': (1e-2, 1e-5), 'float32': (5e-6, 1e-6)}


def jax_array(dtype, codes):
    codes = np.array(codes, BITS[dtype])
    return codes.view(ml_dtypes.bfloat16) if dtype == 'bfloat16' else codes.view(dtype)


def jax_close(dtype, c, r, tolerance):
    a, b = jax_array(dtype, c), jax_array(dtype, r)
    return says(lambda: public_test_util._assert_numpy_allclose(
        a, b, atol=tolerance, rtol=tolerance))[0], -1


def jax_check(dtype, c, r):
    a, b = jax_array(dtype, c), jax_array(dtype, r)
    return says(lambda: public_test_util._assert_numpy_close(a, b))[0], -1


def judges(dtype):
    """(rule, atol, rtol near which pairs are made, verdict of codes)."""
    plain = dtype != 'bfloat16'
    yield 'numpy.allclose', 1e-8, 1e-5, lambda c, r: numpy_all(dtype, c, r)
    yield 'numpy.allclose-swapped', 1e-8, 1e-5, lambda c, r: numpy_all(dtype, c, r, True)
    yield 'numpy.assert_allclose', 0, 1e-7, lambda c, r: numpy_assert(dtype, c, r, 0, 1e-7)
    yield 'triton.assert_close', 1e-2, 0, lambda c, r: numpy_assert(dtype, c, r, 1e-2, 0)
    yield 'numpy.assert_array_almost_equal', 1.5e-6, 0, lambda c, r: (
        says(lambda: np.testing.assert_array_almost_equal(decode(dtype, c), decode(dtype, r)))[0], -1)
    if plain:
        ulp = float(np.finfo(dtype).eps)
        yield 'numpy.assert_array_almost_equal_nulp', 0, ulp, lambda c, r: (
            says(lambda: np.testing.assert_array_almost_equal_nulp(
                decode(dtype, c), decode(dtype, r)))[0], -1)
        yield 'numpy.assert_array_max_ulp', 0, ulp, lambda c, r: (
            says(lambda: np.testing.assert_array_max_ulp(decode(dtype, c), decode(dtype, r)))[0], -1)
        yield 'cutlass.relatively_equal', 0, 0.1, lambda c, r: cutlass(dtype, c, r)
    yield 'sol_execbench', 1e-2, 1e-2, lambda c, r: sol(dtype, c, r)
    yield 'polygraphy', 1e-5, 1e-5, lambda c, r: polygraphy(dtype, c, r)
    if dtype in CPP:
        yield 'transformer_engine.cpp', CPP[dtype][1], CPP[dtype][0], \
            lambda c, r: engine_cpp(dtype, c, r, CPP[dtype][1], CPP[dtype][0])
    if public_test_util:
        yield 'jax.assert_allclose', JAX[dtype], JAX[dtype], \
            lambda c, r: jax_close(dtype, c, r, JAX[dtype])
        yield 'jax.gradients', GRADIENT[dtype], GRADIENT[dtype], \
            lambda c, r: jax_close(dtype, c, r, GRADIENT[dtype])
        yield 'jax.check_close', 12 * JAX[dtype], 12 * JAX[dtype], lambda c, r: jax_check(dtype, c, r)
    if not torch:
        return
    yield 'torch.assert_close', CLOSE[dtype][1], CLOSE[dtype][0], \
        lambda c, r: torch_close(dtype, c, r)
    yield 'torch.allclose', 1e-8, 1e-5, lambda c, r: torch_all(dtype, c, r, 1e-8, 1e-5)
    yield 'kernelbench.v0', 1e-2, 1e-2, lambda c, r: torch_all(dtype, c, r, 1e-2, 1e-2, True)
    if dtype in BENCH:
        tolerance = BENCH[dtype]
        yield 'kernelbench', tolerance, tolerance, \
            lambda c, r: torch_all(dtype, c, r, tolerance, tolerance, True)
        rtol, atol = CLOSE[dtype]
        yield 'transformer_engine.python', atol, rtol, \
            lambda c, r: torch_close(dtype, c, r, rtol=rtol, atol=atol)


def greatest(text):
    """The two numbers of PyTorch's message."""
    found = [re.search(name + r' difference: ([^ ]+) at index \((\d+),\)', text)
             for name in ('Greatest absolute', 'Greatest relative')]
    if not all(found):
        return {}
    return {'greatest': [[float(f.group(1)) if f.group(1) not in ('nan', 'inf') else f.group(1),
                          int(f.group(2))] for f in found]}


def rows():
    for dtype in BITS:
        for rule, atol, rtol, judge in judges(dtype):
            random_ = random.Random(rule + dtype)
            for case in range(12):
                size = random_.choice([1, 3, 12]) if rule != 'jax.check_close' else 12
                few = case % 4 == 3
                pairs = [pair(random_, dtype, atol, rtol, case % 3 == 2) for _ in range(size)]
                if few:
                    pairs = [(p if random_.random() < .2 else (p[1], p[1])) for p in pairs]
                c, r = [encode(dtype, [p[k] for p in pairs]).tolist() for k in (0, 1)]
                with np.errstate(all='ignore'):
                    verdict = judge(c, r)
                if dtype == 'float64':  # beyond what JSON readers keep as integers
                    c, r = [[hex(code) for code in codes] for codes in (c, r)]
                row = {'rule': rule, 'dtype': dtype, 'candidate': c, 'reference': r,
                       'accepted': bool(verdict[0]), 'mismatches': int(verdict[1])}
                if len(verdict) > 2:
                    row.update(greatest(verdict[2]))
                yield row


def main():
    path = sys.argv[1]
    try:
        with open(path, encoding='utf-8') as handle:
            old = json.load(handle)
    except FileNotFoundError:
        old = {'rows': [], 'made': {}}
    new = list(rows())
    mine = {(row['rule'], row['dtype']) for row in new}
    made = dict(old['made'], numpy=np.__version__)
    if torch:
        made['torch'] = torch.__version__
    if public_test_util:
        made['jax'] = jax.__version__
    kept = [row for row in old['rows'] if (row['rule'], row['dtype']) not in mine]
    lines = [json.dumps(row, allow_nan=False) for row in sorted(
        kept + new, key=lambda row: (row['rule'], row['dtype']))]
    with open(path, 'w', encoding='utf-8') as handle:
        handle.write('{"made": %s,\n"rows": [\n%s\n]}\n' % (json.dumps(made), ',\n'.join(lines)))


if __name__ == '__main__':
    main()
