#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUTPUT PREFIX FILE...: each file as a C string named PREFIX_stem.

A compiler that gets one text under several names (stdint.h, cstdint) takes them for different files,
so that #pragma once becomes a guard."""
import os
import sys


def lines_of(path, guard):
    with open(path, encoding='utf-8') as handle:
        lines = handle.read().split('\n')
    if '#pragma once' not in lines:
        return lines
    at = lines.index('#pragma once')
    return lines[:at] + [f'#ifndef {guard}', f'#define {guard}'] + lines[at + 1:] + ['#endif']


def main():
    output, prefix, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(output, 'w', encoding='utf-8') as out:
        out.write('/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by embed.py. */\n')
        for path in files:
            stem = os.path.splitext(os.path.basename(path))[0]
            out.write(f'static const char {prefix}_{stem}[] =\n')
            for line in lines_of(path, f'ASSAY_{prefix}_{stem}'.upper()):
                escaped = line.replace('\\', '\\\\').replace('"', '\\"')
                out.write(f'  "{escaped}\\n"\n')
            out.write(';\n')


if __name__ == '__main__':
    main()
