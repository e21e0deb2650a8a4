# SPDX-License-Identifier: Apache-2.0
"""Calls a task's own checker on many answers, one after another.

Descriptor 4: a line of JSON {folder, sources, entry, outputs: [{name, dtype, shape, bytes}], answers:
[{output, missing, dtype, shape, bytes}]}, then the bytes of the references and of the answers. Descriptor
5: a line of JSON for each answer, {accepted, said}. The checker gets two dicts by output name, of NumPy
arrays where NumPy is there, else of nested lists; what it raises, or returns as false, is a refusal.
"""
import importlib.util
import json
import os
import struct
import sys

try:
    import numpy
except ImportError:
    numpy = None

FORMATS = {'float64': 'd', 'float32': 'f', 'float16': 'e', 'int64': 'q', 'int32': 'i', 'int16': 'h',
           'int8': 'b', 'uint64': 'Q', 'uint32': 'I', 'uint16': 'H', 'uint8': 'B', 'bool': '?'}


def nested(values, shape):
    if not shape:
        return values[0]
    step = len(values) // shape[0] if shape[0] else 0
    return [nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def array(data, about):
    """A new one each time: a checker may write to what it gets."""
    if numpy is not None:
        return numpy.frombuffer(data, about['dtype']).reshape(about['shape']).copy()
    letter = FORMATS[about['dtype']]
    values = struct.unpack('<%d%s' % (len(data) // struct.calcsize(letter), letter), data)
    return nested(list(values), about['shape'])


def entry_of(head):
    sys.path.insert(0, head['folder'])
    for number, source in enumerate(head['sources']):
        path = os.path.join(head['folder'], source)
        spec = importlib.util.spec_from_file_location('task_checker_%d' % number, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if hasattr(module, head['entry']):
            return getattr(module, head['entry'])
    raise LookupError('no %s in %s' % (head['entry'], ', '.join(head['sources'])))


def judge(check, candidate, reference):
    try:
        said = check(candidate, reference)
        said = said[0] if isinstance(said, tuple) and said else said
        return {'accepted': said is None or bool(said), 'said': ''}
    except Exception as error:  # whatever it is, the answer was not accepted
        return {'accepted': False, 'said': ('%s: %s' % (type(error).__name__, error))[:200]}


def main():
    with os.fdopen(4, 'rb') as handle:
        data = handle.read()
    at = data.index(b'\n') + 1
    head = json.loads(data[:at])
    pieces = []
    for about in head['outputs'] + head['answers']:
        pieces.append(data[at:at + about['bytes']])
        at += about['bytes']
    check = entry_of(head)
    own = list(zip(head['outputs'], pieces))
    with os.fdopen(5, 'w', encoding='utf-8') as out:
        for about, piece in zip(head['answers'], pieces[len(own):]):
            reference = {o['name']: array(p, o) for o, p in own}
            candidate = {o['name']: array(p, o) for o, p in own}
            name = head['outputs'][about['output']]['name']
            if about['missing']:
                del candidate[name]
            else:
                candidate[name] = array(piece, about)
            out.write(json.dumps(judge(check, candidate, reference)) + '\n')


main()
