/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The operations of the virtual GPU, an X-macro list that generates the numbers, the decoder's
 * table, the handlers and the documentation.
 *
 * Pattern: the opcode, its parts separated by dots; "a|b" is a choice, "?a|b" may be missing.
 * Expression: of lane values a, b, c; flags are those of the instruction, lane and warp as named.
 *
 *   UNARY (id, pattern, result type, type of a, expression)
 *   BINARY (… type of b …)  TERNARY (… type of c …)
 *   SINGLE_n (id, pattern, expression): binary32 with .ftz, .sat and rounding as flags
 *   DOUBLE_n (id, pattern, expression): binary64 with rounding as flag
 *   HALF_n (id, pattern, format, count, expression): computed in binary32, rounded once to format;
 *     count 1 or 2 values a register
 *   CARRY (id, pattern, type, operands, wide type, expression): low part is the result, the rest
 *     the carry; in is the carry that came
 *   APPROXIMATE (id, pattern, function): see math/approximate.h
 *   COMPARE (id, pattern, type, expression): predicate result
 *   SPECIAL (id): handlers written out, chosen by the decoder's families
 */

/* clang-format off */
#define VGPU_INTEGER_LANES(UNARY, BINARY, TERNARY) \
  UNARY (MOV_16, "mov.b16|u16|s16|f16|bf16", u16, u16, a) \
  UNARY (MOV_32, "mov.b32|u32|s32|f32|f16x2|bf16x2", u32, u32, a) \
  UNARY (MOV_64, "mov.b64|u64|s64|f64", u64, u64, a) \
  UNARY (CVTA_GLOBAL, "cvta.?to.global|const.u64", u64, u64, a) \
  UNARY (CVTA_SHARED, "cvta.shared|shared::cta|shared::cluster.u64", u64, u64, a + VGPU_WINDOW_SHARED) \
  UNARY (CVTA_TO_SHARED, "cvta.to.shared|shared::cta|shared::cluster.u64", u64, u64, a - VGPU_WINDOW_SHARED) \
  UNARY (CVTA_LOCAL, "cvta.local.u64", u64, u64, a + VGPU_WINDOW_LOCAL) \
  UNARY (CVTA_TO_LOCAL, "cvta.to.local.u64", u64, u64, a - VGPU_WINDOW_LOCAL) \
  UNARY (CVTA_PARAM, "cvta.param.u64", u64, u64, a + VGPU_WINDOW_PARAM) \
  UNARY (CVTA_TO_PARAM, "cvta.to.param.u64", u64, u64, a - VGPU_WINDOW_PARAM) \
  BINARY (ADD_16, "add.u16|s16", u16, u16, u16, (u16) (a + b)) \
  BINARY (ADD_32, "add.u32|s32", u32, u32, u32, a + b) \
  BINARY (ADD_64, "add.u64|s64", u64, u64, u64, a + b) \
  BINARY (ADD_SAT_S32, "add.sat.s32", s32, s32, s32, clamp_s32 ((s64) a + b)) \
  BINARY (ADD_16X2, "add.u16x2|s16x2", u32, u32, u32, add_16x2 (a, b)) \
  BINARY (SUB_16, "sub.u16|s16", u16, u16, u16, (u16) (a - b)) \
  BINARY (SUB_32, "sub.u32|s32", u32, u32, u32, a - b) \
  BINARY (SUB_64, "sub.u64|s64", u64, u64, u64, a - b) \
  BINARY (SUB_SAT_S32, "sub.sat.s32", s32, s32, s32, clamp_s32 ((s64) a - b)) \
  BINARY (MUL_LO_16, "mul.lo.u16|s16", u16, u16, u16, (u16) ((u32) a * b)) \
  BINARY (MUL_LO_32, "mul.lo.u32|s32", u32, u32, u32, a * b) \
  BINARY (MUL_LO_64, "mul.lo.u64|s64", u64, u64, u64, a * b) \
  BINARY (MUL_HI_U16, "mul.hi.u16", u16, u16, u16, (u16) ((u32) a * b >> 16)) \
  BINARY (MUL_HI_S16, "mul.hi.s16", u16, s16, s16, (u16) ((s32) a * b >> 16)) \
  BINARY (MUL_HI_U32, "mul.hi.u32", u32, u32, u32, (u32) ((u64) a * b >> 32)) \
  BINARY (MUL_HI_S32, "mul.hi.s32", u32, s32, s32, (u32) ((s64) a * b >> 32)) \
  BINARY (MUL_HI_U64, "mul.hi.u64", u64, u64, u64, (u64) ((u128) a * b >> 64)) \
  BINARY (MUL_HI_S64, "mul.hi.s64", u64, s64, s64, (u64) ((s128) a * b >> 64)) \
  BINARY (MUL_WIDE_U16, "mul.wide.u16", u32, u16, u16, (u32) a * b) \
  BINARY (MUL_WIDE_S16, "mul.wide.s16", u32, s16, s16, (u32) ((s32) a * b)) \
  BINARY (MUL_WIDE_U32, "mul.wide.u32", u64, u32, u32, (u64) a * b) \
  BINARY (MUL_WIDE_S32, "mul.wide.s32", u64, s32, s32, (u64) ((s64) a * b)) \
  BINARY (MUL24_LO_U32, "mul24.lo.u32", u32, u32, u32, (a & 0xffffff) * (b & 0xffffff)) \
  BINARY (MUL24_HI_U32, "mul24.hi.u32", u32, u32, u32, (u32) ((u64) (a & 0xffffff) * (b & 0xffffff) >> 16)) \
  BINARY (MUL24_HI_S32, "mul24.hi.s32", u32, u32, u32, (u32) ((s64) (s32) extend_24 (a) * (s32) extend_24 (b) >> 16)) \
  TERNARY (MAD24_LO_U32, "mad24.lo.u32", u32, u32, u32, u32, (a & 0xffffff) * (b & 0xffffff) + c) \
  TERNARY (MAD24_LO_S32, "mad24.lo.s32", u32, u32, u32, u32, extend_24 (a) * extend_24 (b) + c) \
  BINARY (MUL24_LO_S32, "mul24.lo.s32", u32, u32, u32, extend_24 (a) * extend_24 (b)) \
  TERNARY (MAD_LO_16, "mad.lo.u16|s16", u16, u16, u16, u16, (u16) ((u32) a * b + c)) \
  TERNARY (MAD_LO_32, "mad.lo.u32|s32", u32, u32, u32, u32, a * b + c) \
  TERNARY (MAD_LO_64, "mad.lo.u64|s64", u64, u64, u64, u64, a * b + c) \
  TERNARY (MAD_HI_U32, "mad.hi.u32", u32, u32, u32, u32, (u32) ((u64) a * b >> 32) + c) \
  TERNARY (MAD_HI_S32, "mad.hi.s32", u32, s32, s32, u32, (u32) ((s64) a * b >> 32) + c) \
  TERNARY (MAD_HI_U64, "mad.hi.u64", u64, u64, u64, u64, (u64) ((u128) a * b >> 64) + c) \
  TERNARY (MAD_HI_S64, "mad.hi.s64", u64, s64, s64, u64, (u64) ((s128) a * b >> 64) + c) \
  TERNARY (MAD_WIDE_U16, "mad.wide.u16", u32, u16, u16, u32, (u32) a * b + c) \
  TERNARY (MAD_WIDE_S16, "mad.wide.s16", u32, s16, s16, u32, (u32) ((s32) a * b) + c) \
  TERNARY (MAD_WIDE_U32, "mad.wide.u32", u64, u32, u32, u64, (u64) a * b + c) \
  TERNARY (MAD_WIDE_S32, "mad.wide.s32", u64, s32, s32, u64, (u64) ((s64) a * b) + c) \
  TERNARY (SAD_U32, "sad.u32", u32, u32, u32, u32, (a > b ? a - b : b - a) + c) \
  TERNARY (SAD_S32, "sad.s32", u32, s32, s32, u32, (a > b ? (u32) a - (u32) b : (u32) b - (u32) a) + c) \
  TERNARY (SAD_U16, "sad.u16", u16, u16, u16, u16, (a > b ? a - b : b - a) + c) \
  TERNARY (SAD_S16, "sad.s16", u16, s16, s16, u16, (a > b ? a - b : b - a) + c) \
  TERNARY (SAD_U64, "sad.u64", u64, u64, u64, u64, (a > b ? a - b : b - a) + c) \
  TERNARY (SAD_S64, "sad.s64", u64, s64, s64, u64, (a > b ? (u64) a - (u64) b : (u64) b - (u64) a) + c) \
  TERNARY (FNS, "fns.b32", u32, u32, u32, s32, nth_set (a, b, c)) \
  TERNARY (DP2A_LO_UU, "dp2a.lo.u32.u32", u32, u32, u32, u32, dot_2 (a, b, c, false, false)) \
  TERNARY (DP2A_LO_US, "dp2a.lo.u32.s32", u32, u32, u32, u32, dot_2 (a, b, c, false, true)) \
  TERNARY (DP2A_LO_SU, "dp2a.lo.s32.u32", u32, u32, u32, u32, dot_2 (a, b, c, true, false)) \
  TERNARY (DP2A_LO_SS, "dp2a.lo.s32.s32", u32, u32, u32, u32, dot_2 (a, b, c, true, true)) \
  TERNARY (DP2A_HI_UU, "dp2a.hi.u32.u32", u32, u32, u32, u32, dot_2 (a, b >> 16, c, false, false)) \
  TERNARY (DP2A_HI_US, "dp2a.hi.u32.s32", u32, u32, u32, u32, dot_2 (a, b >> 16, c, false, true)) \
  TERNARY (DP2A_HI_SU, "dp2a.hi.s32.u32", u32, u32, u32, u32, dot_2 (a, b >> 16, c, true, false)) \
  TERNARY (DP2A_HI_SS, "dp2a.hi.s32.s32", u32, u32, u32, u32, dot_2 (a, b >> 16, c, true, true)) \
  TERNARY (DP4A_U32, "dp4a.u32.u32", u32, u32, u32, u32, dot_4 (a, b, c, false, false)) \
  TERNARY (DP4A_S32, "dp4a.s32.s32", u32, u32, u32, u32, dot_4 (a, b, c, true, true)) \
  TERNARY (DP4A_US32, "dp4a.u32.s32", u32, u32, u32, u32, dot_4 (a, b, c, false, true)) \
  TERNARY (DP4A_SU32, "dp4a.s32.u32", u32, u32, u32, u32, dot_4 (a, b, c, true, false)) \
  BINARY (DIV_U16, "div.u16", u16, u16, u16, (u16) (b ? a / b : 0xffff)) \
  BINARY (DIV_S16, "div.s16", u16, s16, s16, (u16) divide_s32 (a, b)) \
  BINARY (DIV_U32, "div.u32", u32, u32, u32, b ? a / b : 0xffffffffu) \
  BINARY (DIV_S32, "div.s32", u32, s32, s32, (u32) divide_s32 (a, b)) \
  BINARY (DIV_U64, "div.u64", u64, u64, u64, b ? a / b : ~(u64) 0) \
  BINARY (DIV_S64, "div.s64", u64, s64, s64, (u64) divide_s64 (a, b)) \
  BINARY (REM_U16, "rem.u16", u16, u16, u16, (u16) (b ? a % b : a)) \
  BINARY (REM_S16, "rem.s16", u16, s16, s16, (u16) remainder_s32 (a, b)) \
  BINARY (REM_U32, "rem.u32", u32, u32, u32, b ? a % b : a) \
  BINARY (REM_S32, "rem.s32", u32, s32, s32, (u32) remainder_s32 (a, b)) \
  BINARY (REM_U64, "rem.u64", u64, u64, u64, b ? a % b : a) \
  BINARY (REM_S64, "rem.s64", u64, s64, s64, (u64) remainder_s64 (a, b)) \
  UNARY (ABS_S16, "abs.s16", u16, s16, (u16) (a < 0 ? -a : a)) \
  UNARY (ABS_S32, "abs.s32", u32, s32, a < 0 ? 0u - (u32) a : (u32) a) \
  UNARY (ABS_S64, "abs.s64", u64, s64, a < 0 ? 0u - (u64) a : (u64) a) \
  UNARY (NEG_S16, "neg.s16", u16, u16, (u16) (0u - a)) \
  UNARY (NEG_S32, "neg.s32", u32, u32, 0u - a) \
  UNARY (NEG_S64, "neg.s64", u64, u64, (u64) 0 - a) \
  BINARY (MIN_U16X2, "min.u16x2", u32, u32, u32, pick_16x2 (a, b, false, false, false)) \
  BINARY (MIN_S16X2, "min.s16x2", u32, u32, u32, pick_16x2 (a, b, false, true, false)) \
  BINARY (MIN_RELU_S16X2, "min.relu.s16x2", u32, u32, u32, pick_16x2 (a, b, false, true, true)) \
  BINARY (MAX_U16X2, "max.u16x2", u32, u32, u32, pick_16x2 (a, b, true, false, false)) \
  BINARY (MAX_S16X2, "max.s16x2", u32, u32, u32, pick_16x2 (a, b, true, true, false)) \
  BINARY (MAX_RELU_S16X2, "max.relu.s16x2", u32, u32, u32, pick_16x2 (a, b, true, true, true)) \
  BINARY (MIN_U16, "min.u16", u16, u16, u16, a < b ? a : b) \
  BINARY (MIN_S16, "min.s16", s16, s16, s16, a < b ? a : b) \
  BINARY (MIN_U32, "min.u32", u32, u32, u32, a < b ? a : b) \
  BINARY (MIN_S32, "min.s32", s32, s32, s32, a < b ? a : b) \
  BINARY (MIN_RELU_S32, "min.relu.s32", s32, s32, s32, relu_s32 (a < b ? a : b)) \
  BINARY (MIN_U64, "min.u64", u64, u64, u64, a < b ? a : b) \
  BINARY (MIN_S64, "min.s64", s64, s64, s64, a < b ? a : b) \
  BINARY (MAX_U16, "max.u16", u16, u16, u16, a > b ? a : b) \
  BINARY (MAX_S16, "max.s16", s16, s16, s16, a > b ? a : b) \
  BINARY (MAX_U32, "max.u32", u32, u32, u32, a > b ? a : b) \
  BINARY (MAX_S32, "max.s32", s32, s32, s32, a > b ? a : b) \
  BINARY (MAX_RELU_S32, "max.relu.s32", s32, s32, s32, relu_s32 (a > b ? a : b)) \
  BINARY (MAX_U64, "max.u64", u64, u64, u64, a > b ? a : b) \
  BINARY (MAX_S64, "max.s64", s64, s64, s64, a > b ? a : b) \
  BINARY (AND_16, "and.b16", u16, u16, u16, a & b) \
  BINARY (AND_32, "and.b32", u32, u32, u32, a & b) \
  BINARY (AND_64, "and.b64", u64, u64, u64, a & b) \
  BINARY (OR_16, "or.b16", u16, u16, u16, a | b) \
  BINARY (OR_32, "or.b32", u32, u32, u32, a | b) \
  BINARY (OR_64, "or.b64", u64, u64, u64, a | b) \
  BINARY (XOR_16, "xor.b16", u16, u16, u16, a ^ b) \
  BINARY (XOR_32, "xor.b32", u32, u32, u32, a ^ b) \
  BINARY (XOR_64, "xor.b64", u64, u64, u64, a ^ b) \
  UNARY (NOT_16, "not.b16", u16, u16, (u16) ~a) \
  UNARY (NOT_32, "not.b32", u32, u32, ~a) \
  UNARY (NOT_64, "not.b64", u64, u64, ~a) \
  UNARY (CNOT_16, "cnot.b16", u16, u16, a == 0) \
  UNARY (CNOT_32, "cnot.b32", u32, u32, a == 0) \
  UNARY (CNOT_64, "cnot.b64", u64, u64, a == 0) \
  BINARY (SHL_16, "shl.b16", u16, u16, u32, (u16) (b < 16 ? (u32) a << b : 0)) \
  BINARY (SHL_32, "shl.b32", u32, u32, u32, b < 32 ? a << (b & 31) : 0) \
  BINARY (SHL_64, "shl.b64", u64, u64, u32, b < 64 ? a << (b & 63) : 0) \
  BINARY (SHR_U16, "shr.u16|b16", u16, u16, u32, (u16) (b < 16 ? a >> b : 0)) \
  BINARY (SHR_S16, "shr.s16", u16, s16, u32, (u16) (a >> (b < 16 ? b : 15))) \
  BINARY (SHR_U32, "shr.u32|b32", u32, u32, u32, b < 32 ? a >> (b & 31) : 0) \
  BINARY (SHR_S32, "shr.s32", u32, s32, u32, (u32) (a >> (b < 32 ? b : 31))) \
  BINARY (SHR_U64, "shr.u64|b64", u64, u64, u32, b < 64 ? a >> (b & 63) : 0) \
  BINARY (SHR_S64, "shr.s64", u64, s64, u32, (u64) (a >> (b < 64 ? b : 63))) \
  TERNARY (FMA_F32X2, "fma.rn.?ftz.f32x2", u64, u64, u64, u64, pair_f32 (PAIR_FMA, a, b, c, flags)) \
  TERNARY (PRMT_F4E, "prmt.b32.f4e", u32, u32, u32, u32, permute_bytes (a, b, (u32) (0x6543543243213210u >> (16 * (c & 3))) & 0xffff)) \
  TERNARY (PRMT_B4E, "prmt.b32.b4e", u32, u32, u32, u32, permute_bytes (a, b, (u32) (0x0123701267015670u >> (16 * (c & 3))) & 0xffff)) \
  TERNARY (PRMT_RC8, "prmt.b32.rc8", u32, u32, u32, u32, permute_bytes (a, b, (c & 3) * 0x1111)) \
  TERNARY (PRMT_ECL, "prmt.b32.ecl", u32, u32, u32, u32, permute_bytes (a, b, (u32) (0x3333322232113210u >> (16 * (c & 3))) & 0xffff)) \
  TERNARY (PRMT_ECR, "prmt.b32.ecr", u32, u32, u32, u32, permute_bytes (a, b, (u32) (0x3210221011100000u >> (16 * (c & 3))) & 0xffff)) \
  TERNARY (PRMT_RC16, "prmt.b32.rc16", u32, u32, u32, u32, permute_bytes (a, b, c & 1 ? 0x3232 : 0x1010)) \
  TERNARY (SHF_L_WRAP, "shf.l.wrap.b32", u32, u32, u32, u32, funnel_left (a, b, c & 31)) \
  TERNARY (SHF_L_CLAMP, "shf.l.clamp.b32", u32, u32, u32, u32, funnel_left (a, b, c < 32 ? c : 32)) \
  TERNARY (SHF_R_WRAP, "shf.r.wrap.b32", u32, u32, u32, u32, funnel_right (a, b, c & 31)) \
  TERNARY (SHF_R_CLAMP, "shf.r.clamp.b32", u32, u32, u32, u32, funnel_right (a, b, c < 32 ? c : 32)) \
  TERNARY (BFE_U32, "bfe.u32", u32, u32, u32, u32, (u32) extract_field (a, b, c, 32, false)) \
  TERNARY (BFE_S32, "bfe.s32", u32, u32, u32, u32, (u32) extract_field (a, b, c, 32, true)) \
  TERNARY (BFE_U64, "bfe.u64", u64, u64, u32, u32, extract_field (a, b, c, 64, false)) \
  TERNARY (BFE_S64, "bfe.s64", u64, u64, u32, u32, extract_field (a, b, c, 64, true)) \
  UNARY (BFIND_U32, "bfind.u32", u32, u32, find_bit (a, 32, false, false)) \
  UNARY (BFIND_S32, "bfind.s32", u32, u32, find_bit (a, 32, true, false)) \
  UNARY (BFIND_U64, "bfind.u64", u32, u64, find_bit (a, 64, false, false)) \
  UNARY (BFIND_S64, "bfind.s64", u32, u64, find_bit (a, 64, true, false)) \
  UNARY (BFIND_SHIFT_U32, "bfind.shiftamt.u32", u32, u32, find_bit (a, 32, false, true)) \
  UNARY (BFIND_SHIFT_S32, "bfind.shiftamt.s32", u32, u32, find_bit (a, 32, true, true)) \
  UNARY (BFIND_SHIFT_U64, "bfind.shiftamt.u64", u32, u64, find_bit (a, 64, false, true)) \
  UNARY (BFIND_SHIFT_S64, "bfind.shiftamt.s64", u32, u64, find_bit (a, 64, true, true)) \
  UNARY (CLZ_32, "clz.b32", u32, u32, a ? (u32) __builtin_clz (a) : 32) \
  UNARY (CLZ_64, "clz.b64", u32, u64, a ? (u32) __builtin_clzll (a) : 64) \
  UNARY (POPC_32, "popc.b32", u32, u32, (u32) __builtin_popcount (a)) \
  UNARY (POPC_64, "popc.b64", u32, u64, (u32) __builtin_popcountll (a)) \
  UNARY (BREV_32, "brev.b32", u32, u32, reverse_32 (a)) \
  UNARY (BREV_64, "brev.b64", u64, u64, (u64) reverse_32 ((u32) a) << 32 | reverse_32 ((u32) (a >> 32))) \
  TERNARY (PRMT, "prmt.b32", u32, u32, u32, u32, permute_bytes (a, b, c)) \
  BINARY (BMSK_CLAMP, "bmsk.clamp.b32", u32, u32, u32, bit_mask (a < 32 ? a : 32, b < 32 ? b : 32)) \
  BINARY (BMSK_WRAP, "bmsk.wrap.b32", u32, u32, u32, bit_mask (a & 31, b & 31)) \
  BINARY (SZEXT_CLAMP_U32, "szext.clamp.u32", u32, u32, u32, (u32) extract_field (a, 0, b < 32 ? b : 32, 32, false)) \
  BINARY (SZEXT_CLAMP_S32, "szext.clamp.s32", u32, u32, u32, b == 0 ? 0 : (u32) extract_field (a, 0, b < 32 ? b : 32, 32, true)) \
  UNARY (COPY_LOW_16_32, "", u16, u32, (u16) a) \
  UNARY (COPY_LOW_16_64, "", u16, u64, (u16) a) \
  UNARY (COPY_LOW_32_64, "", u32, u64, (u32) a) \
  UNARY (ZERO_EXTEND_32_16, "", u32, u16, a) \
  UNARY (ZERO_EXTEND_64_16, "", u64, u16, a) \
  UNARY (ZERO_EXTEND_64_32, "", u64, u32, a) \
  UNARY (SIGN_EXTEND_32_16, "", u32, s16, (u32) (s32) a) \
  UNARY (SIGN_EXTEND_64_16, "", u64, s16, (u64) (s64) a) \
  UNARY (SIGN_EXTEND_64_32, "", u64, s32, (u64) (s64) a) \
  UNARY (ZERO_EXTEND_16_8, "", u16, u16, (u8) a) \
  UNARY (SIGN_EXTEND_16_8, "", u16, u16, (u16) (s16) (s8) a) \
  UNARY (UPPER_16_32, "", u16, u32, (u16) (a >> 16)) \
  UNARY (UPPER_32_64, "", u32, u64, (u32) (a >> 32)) \
  BINARY (PACK_32_16, "", u32, u16, u16, (u32) b << 16 | a) \
  BINARY (PACK_64_32, "", u64, u32, u32, (u64) b << 32 | a)

#define VGPU_IMMEDIATE_LANES(TERNARY) \
  TERNARY (LOP3, "lop3.b32", u32, u32, u32, u32, logic_3 (a, b, c, (u32) ins->imm))

#define VGPU_SINGLE_LANES(SINGLE_1, SINGLE_2, SINGLE_3) \
  SINGLE_2 (ADD_F32, "add.?rn|rz|rm|rp.?ftz.?sat.f32", a + b) \
  SINGLE_2 (SUB_F32, "sub.?rn|rz|rm|rp.?ftz.?sat.f32", a - b) \
  SINGLE_2 (MUL_F32, "mul.?rn|rz|rm|rp.?ftz.?sat.f32", a * b) \
  SINGLE_3 (FMA_F32, "fma.rn|rz|rm|rp.?ftz.?sat.f32", __builtin_fmaf (a, b, c)) \
  SINGLE_3 (MAD_F32, "mad.?rn|rz|rm|rp.?ftz.?sat.f32", __builtin_fmaf (a, b, c)) \
  SINGLE_2 (DIV_F32, "div.rn|rz|rm|rp.?ftz.f32", a / b) \
  SINGLE_1 (RCP_F32, "rcp.rn|rz|rm|rp.?ftz.f32", 1.0f / a) \
  SINGLE_1 (SQRT_F32, "sqrt.rn|rz|rm|rp.?ftz.f32", __builtin_sqrtf (a))

#define VGPU_SIGN_LANES(UNARY, BINARY) \
  UNARY (NEG_F32, "neg.?ftz.f32", u32, u32, flush_bits (a, flags) ^ 0x80000000u) \
  UNARY (ABS_F32, "abs.?ftz.f32", u32, u32, flush_bits (a, flags) & 0x7fffffffu) \
  UNARY (FLUSH_F32, "", u32, u32, flush_bits (a, VGPU_INS_FTZ)) \
  UNARY (NEG_F64, "neg.f64", u64, u64, a ^ (u64) 1 << 63) \
  UNARY (ABS_F64, "abs.f64", u64, u64, a & ~((u64) 1 << 63)) \
  BINARY (COPYSIGN_F32, "copysign.f32", u32, u32, u32, (b & 0x7fffffffu) | (a & 0x80000000u)) \
  BINARY (COPYSIGN_F64, "copysign.f64", u64, u64, u64, (b & ~((u64) 1 << 63)) | (a & (u64) 1 << 63)) \
  BINARY (MIN_F32, "min.?ftz.?NaN.f32", f32, f32, f32, least_f32 (a, b, flags)) \
  BINARY (MAX_F32, "max.?ftz.?NaN.f32", f32, f32, f32, greatest_f32 (a, b, flags)) \
  BINARY (MIN_XORSIGN_F32, "min.?ftz.?NaN.xorsign.abs.f32", f32, f32, f32, with_signs (least_f32 (__builtin_fabsf (a), __builtin_fabsf (b), flags), a, b)) \
  BINARY (MAX_XORSIGN_F32, "max.?ftz.?NaN.xorsign.abs.f32", f32, f32, f32, with_signs (greatest_f32 (__builtin_fabsf (a), __builtin_fabsf (b), flags), a, b)) \
  BINARY (ADD_F32X2, "add.?rn.?ftz.f32x2", u64, u64, u64, pair_f32 (PAIR_ADD, a, b, 0, flags)) \
  BINARY (SUB_F32X2, "sub.?rn.?ftz.f32x2", u64, u64, u64, pair_f32 (PAIR_SUB, a, b, 0, flags)) \
  BINARY (MUL_F32X2, "mul.?rn.?ftz.f32x2", u64, u64, u64, pair_f32 (PAIR_MUL, a, b, 0, flags)) \
  BINARY (MIN_F64, "min.f64", f64, f64, f64, least_f64 (a, b)) \
  BINARY (MAX_F64, "max.f64", f64, f64, f64, greatest_f64 (a, b))

#define VGPU_DOUBLE_LANES(DOUBLE_1, DOUBLE_2, DOUBLE_3) \
  DOUBLE_2 (ADD_F64, "add.?rn|rz|rm|rp.f64", a + b) \
  DOUBLE_2 (SUB_F64, "sub.?rn|rz|rm|rp.f64", a - b) \
  DOUBLE_2 (MUL_F64, "mul.?rn|rz|rm|rp.f64", a * b) \
  DOUBLE_3 (FMA_F64, "fma.rn|rz|rm|rp.f64", __builtin_fma (a, b, c)) \
  DOUBLE_3 (MAD_F64, "mad.rn|rz|rm|rp.f64", __builtin_fma (a, b, c)) \
  DOUBLE_2 (DIV_F64, "div.rn|rz|rm|rp.f64", a / b) \
  DOUBLE_1 (RCP_F64, "rcp.rn|rz|rm|rp.f64", 1.0 / a) \
  DOUBLE_1 (SQRT_F64, "sqrt.rn|rz|rm|rp.f64", __builtin_sqrt (a)) \
  DOUBLE_1 (RCP_APPROX_F64, "rcp.approx.ftz.f64", upper_word (1.0 / flush_f64 (a))) \
  DOUBLE_1 (RSQRT_APPROX_F64, "rsqrt.approx.f64", (f64) (1.0L / __builtin_sqrtl (a))) \
  DOUBLE_1 (RSQRT_APPROX_FTZ_F64, "rsqrt.approx.ftz.f64", upper_word (1.0 / __builtin_sqrt (flush_f64 (a))))

#define VGPU_HALF_FORMAT(HALF_1, HALF_2, HALF_3, ID, TYPE, FORMAT, COUNT) \
  HALF_2 (ADD_##ID, "add.?rn.?ftz.?sat." TYPE, FORMAT, COUNT, a + b) \
  HALF_2 (SUB_##ID, "sub.?rn.?ftz.?sat." TYPE, FORMAT, COUNT, a - b) \
  HALF_2 (MUL_##ID, "mul.?rn.?ftz.?sat." TYPE, FORMAT, COUNT, a * b) \
  HALF_3 (FMA_##ID, "fma.rn.?ftz.?sat.?relu." TYPE, FORMAT, COUNT, odd_fma (a, b, c)) \
  HALF_1 (NEG_##ID, "neg.?ftz." TYPE, FORMAT, COUNT, -a) \
  HALF_1 (ABS_##ID, "abs.?ftz." TYPE, FORMAT, COUNT, __builtin_fabsf (a)) \
  HALF_2 (MIN_##ID, "min.?ftz.?NaN." TYPE, FORMAT, COUNT, least_f32 (a, b, flags)) \
  HALF_2 (MAX_##ID, "max.?ftz.?NaN." TYPE, FORMAT, COUNT, greatest_f32 (a, b, flags)) \
  HALF_2 (MIN_XORSIGN_##ID, "min.?ftz.?NaN.xorsign.abs." TYPE, FORMAT, COUNT, with_signs (least_f32 (__builtin_fabsf (a), __builtin_fabsf (b), flags), a, b)) \
  HALF_2 (MAX_XORSIGN_##ID, "max.?ftz.?NaN.xorsign.abs." TYPE, FORMAT, COUNT, with_signs (greatest_f32 (__builtin_fabsf (a), __builtin_fabsf (b), flags), a, b))

#define VGPU_HALF_LANES(HALF_1, HALF_2, HALF_3) \
  VGPU_HALF_FORMAT (HALF_1, HALF_2, HALF_3, F16, "f16", half, 1) \
  VGPU_HALF_FORMAT (HALF_1, HALF_2, HALF_3, F16X2, "f16x2", half, 2) \
  VGPU_HALF_FORMAT (HALF_1, HALF_2, HALF_3, BF16, "bf16", bfloat, 1) \
  VGPU_HALF_FORMAT (HALF_1, HALF_2, HALF_3, BF16X2, "bf16x2", bfloat, 2)

/* Elementary functions of 16-bit formats: correctly rounded from the binary32 value. */
#define VGPU_HALF_FUNCTIONS(HALF_FUNCTION) \
  HALF_FUNCTION (EX2_F16, "ex2.approx.?ftz.f16", half, 1, EX2) \
  HALF_FUNCTION (EX2_F16X2, "ex2.approx.?ftz.f16x2", half, 2, EX2) \
  HALF_FUNCTION (EX2_BF16, "ex2.approx.?ftz.bf16", bfloat, 1, EX2) \
  HALF_FUNCTION (EX2_BF16X2, "ex2.approx.?ftz.bf16x2", bfloat, 2, EX2) \
  HALF_FUNCTION (TANH_F16, "tanh.approx.f16", half, 1, TANH) \
  HALF_FUNCTION (TANH_F16X2, "tanh.approx.f16x2", half, 2, TANH) \
  HALF_FUNCTION (TANH_BF16, "tanh.approx.bf16", bfloat, 1, TANH) \
  HALF_FUNCTION (TANH_BF16X2, "tanh.approx.bf16x2", bfloat, 2, TANH)

#define VGPU_APPROXIMATE_LANES(APPROXIMATE) \
  APPROXIMATE (EX2_APPROX, "ex2.approx.?ftz.f32", EX2) \
  APPROXIMATE (LG2_APPROX, "lg2.approx.?ftz.f32", LG2) \
  APPROXIMATE (SIN_APPROX, "sin.approx.?ftz.f32", SIN) \
  APPROXIMATE (COS_APPROX, "cos.approx.?ftz.f32", COS) \
  APPROXIMATE (TANH_APPROX, "tanh.approx.f32", TANH) \
  APPROXIMATE (RCP_APPROX, "rcp.approx.?ftz.f32", RCP) \
  APPROXIMATE (SQRT_APPROX, "sqrt.approx.?ftz.f32", SQRT) \
  APPROXIMATE (RSQRT_APPROX, "rsqrt.approx.?ftz.f32", RSQRT)

#define VGPU_CARRY_LANES(CARRY) \
  CARRY (ADD_CC_32, "add.cc.u32|s32", u32, u64, (u64) a + b) \
  CARRY (ADDC_32, "addc.u32|s32", u32, u64, (u64) a + b + in) \
  CARRY (ADDC_CC_32, "addc.cc.u32|s32", u32, u64, (u64) a + b + in) \
  CARRY (SUB_CC_32, "sub.cc.u32|s32", u32, u64, (u64) a - b) \
  CARRY (SUBC_32, "subc.u32|s32", u32, u64, (u64) a - b - in) \
  CARRY (SUBC_CC_32, "subc.cc.u32|s32", u32, u64, (u64) a - b - in) \
  CARRY (MAD_LO_CC_32, "mad.lo.cc.u32|s32", u32, u64, (u64) (u32) (a * b) + c) \
  CARRY (MADC_LO_32, "madc.lo.u32|s32", u32, u64, (u64) (u32) (a * b) + c + in) \
  CARRY (MADC_LO_CC_32, "madc.lo.cc.u32|s32", u32, u64, (u64) (u32) (a * b) + c + in) \
  CARRY (MAD_HI_CC_U32, "mad.hi.cc.u32", u32, u64, ((u64) a * b >> 32) + c) \
  CARRY (MADC_HI_U32, "madc.hi.u32", u32, u64, ((u64) a * b >> 32) + c + in) \
  CARRY (MADC_HI_CC_U32, "madc.hi.cc.u32", u32, u64, ((u64) a * b >> 32) + c + in) \
  CARRY (ADD_CC_64, "add.cc.u64|s64", u64, u128, (u128) a + b) \
  CARRY (ADDC_64, "addc.u64|s64", u64, u128, (u128) a + b + in) \
  CARRY (ADDC_CC_64, "addc.cc.u64|s64", u64, u128, (u128) a + b + in) \
  CARRY (SUB_CC_64, "sub.cc.u64|s64", u64, u128, (u128) a - b) \
  CARRY (SUBC_64, "subc.u64|s64", u64, u128, (u128) a - b - in) \
  CARRY (SUBC_CC_64, "subc.cc.u64|s64", u64, u128, (u128) a - b - in) \
  CARRY (MAD_LO_CC_64, "mad.lo.cc.u64|s64", u64, u128, (u128) (u64) (a * b) + c) \
  CARRY (MADC_LO_64, "madc.lo.u64|s64", u64, u128, (u128) (u64) (a * b) + c + in) \
  CARRY (MADC_LO_CC_64, "madc.lo.cc.u64|s64", u64, u128, (u128) (u64) (a * b) + c + in) \
  CARRY (MAD_HI_CC_U64, "mad.hi.cc.u64", u64, u128, ((u128) a * b >> 64) + c) \
  CARRY (MADC_HI_U64, "madc.hi.u64", u64, u128, ((u128) a * b >> 64) + c + in) \
  CARRY (MADC_HI_CC_U64, "madc.hi.cc.u64", u64, u128, ((u128) a * b >> 64) + c + in)

#define VGPU_COMPARE_INTEGER(COMPARE, T, U, S, BITS) \
  COMPARE (EQ_##BITS, "eq.b" T "|u" T "|s" T, U, a == b) \
  COMPARE (NE_##BITS, "ne.b" T "|u" T "|s" T, U, a != b) \
  COMPARE (LT_U##BITS, "lt|lo.u" T, U, a < b) \
  COMPARE (LE_U##BITS, "le|ls.u" T, U, a <= b) \
  COMPARE (GT_U##BITS, "gt|hi.u" T, U, a > b) \
  COMPARE (GE_U##BITS, "ge|hs.u" T, U, a >= b) \
  COMPARE (LT_S##BITS, "lt.s" T, S, a < b) \
  COMPARE (LE_S##BITS, "le.s" T, S, a <= b) \
  COMPARE (GT_S##BITS, "gt.s" T, S, a > b) \
  COMPARE (GE_S##BITS, "ge.s" T, S, a >= b)

#define VGPU_COMPARE_FLOAT(COMPARE, ID, NAME, T) \
  COMPARE (EQ_##ID, "eq." NAME, T, a == b) \
  COMPARE (NE_##ID, "ne." NAME, T, (a < b) | (a > b)) \
  COMPARE (LT_##ID, "lt." NAME, T, a < b) \
  COMPARE (LE_##ID, "le." NAME, T, a <= b) \
  COMPARE (GT_##ID, "gt." NAME, T, a > b) \
  COMPARE (GE_##ID, "ge." NAME, T, a >= b) \
  COMPARE (EQU_##ID, "equ." NAME, T, !((a < b) | (a > b))) \
  COMPARE (NEU_##ID, "neu." NAME, T, a != b) \
  COMPARE (LTU_##ID, "ltu." NAME, T, !(a >= b)) \
  COMPARE (LEU_##ID, "leu." NAME, T, !(a > b)) \
  COMPARE (GTU_##ID, "gtu." NAME, T, !(a <= b)) \
  COMPARE (GEU_##ID, "geu." NAME, T, !(a < b)) \
  COMPARE (NUM_##ID, "num." NAME, T, (a == a) & (b == b)) \
  COMPARE (NAN_##ID, "nan." NAME, T, (a != a) | (b != b))

#define VGPU_COMPARE_LANES(COMPARE) \
  VGPU_COMPARE_INTEGER (COMPARE, "16", u16, s16, 16) \
  VGPU_COMPARE_INTEGER (COMPARE, "32", u32, s32, 32) \
  VGPU_COMPARE_INTEGER (COMPARE, "64", u64, s64, 64) \
  VGPU_COMPARE_FLOAT (COMPARE, F32, "f32", f32) \
  VGPU_COMPARE_FLOAT (COMPARE, F64, "f64", f64)

/* Conversions that deserve a loop of their own; the others take CVT_ANY, a lane at a time. */
#define VGPU_CONVERT_LANES(UNARY) \
  UNARY (CVT_F32_S32, "cvt.rn.f32.s32", f32, s32, (f32) a) \
  UNARY (CVT_F32_U32, "cvt.rn.f32.u32", f32, u32, (f32) a) \
  UNARY (CVT_F32_S64, "cvt.rn.f32.s64", f32, s64, (f32) a) \
  UNARY (CVT_F32_U64, "cvt.rn.f32.u64", f32, u64, (f32) a) \
  UNARY (CVT_F32_S16, "cvt.rn.f32.s16", f32, s16, (f32) a) \
  UNARY (CVT_F32_U16, "cvt.rn.f32.u16", f32, u16, (f32) a) \
  UNARY (CVT_F64_S32, "cvt.rn.f64.s32", f64, s32, (f64) a) \
  UNARY (CVT_F64_U32, "cvt.rn.f64.u32", f64, u32, (f64) a) \
  UNARY (CVT_F64_S64, "cvt.rn.f64.s64", f64, s64, (f64) a) \
  UNARY (CVT_F64_U64, "cvt.rn.f64.u64", f64, u64, (f64) a) \
  UNARY (CVT_F64_F32, "cvt.?ftz.f64.f32", f64, f32, (f64) flush_f32 (a, flags)) \
  UNARY (CVT_F32_F64, "cvt.rn.?ftz.f32.f64", f32, f64, canonical (flush_f32 ((f32) a, flags))) \
  UNARY (CVT_F32_F16, "cvt.?ftz.f32.f16", f32, u16, canonical (assay_half_to_float (a))) \
  UNARY (CVT_F32_BF16, "cvt.f32.bf16", f32, u16, canonical (assay_bfloat_to_float (a))) \
  UNARY (CVT_F16_F32, "cvt.rn.?ftz.f16.f32", u16, f32, half_from_single (flush_f32 (a, flags))) \
  UNARY (CVT_BF16_F32, "cvt.rn.bf16.f32", u16, f32, bfloat_from_single (a)) \
  UNARY (CVT_RNI_F32, "cvt.rni.?ftz.f32.f32", f32, f32, canonical (__builtin_rintf (flush_f32 (a, flags)))) \
  UNARY (CVT_RZI_F32, "cvt.rzi.?ftz.f32.f32", f32, f32, canonical (__builtin_truncf (flush_f32 (a, flags)))) \
  UNARY (CVT_RMI_F32, "cvt.rmi.?ftz.f32.f32", f32, f32, canonical (__builtin_floorf (flush_f32 (a, flags)))) \
  UNARY (CVT_RPI_F32, "cvt.rpi.?ftz.f32.f32", f32, f32, canonical (__builtin_ceilf (flush_f32 (a, flags)))) \
  UNARY (CVT_SAT_F32, "cvt.?ftz.sat.f32.f32", f32, f32, saturate (flush_f32 (a, flags))) \
  UNARY (CVT_RNI_F64, "cvt.rni.f64.f64", f64, f64, __builtin_rint (a)) \
  UNARY (CVT_RZI_F64, "cvt.rzi.f64.f64", f64, f64, __builtin_trunc (a)) \
  UNARY (CVT_RMI_F64, "cvt.rmi.f64.f64", f64, f64, __builtin_floor (a)) \
  UNARY (CVT_RPI_F64, "cvt.rpi.f64.f64", f64, f64, __builtin_ceil (a)) \
  UNARY (CVT_TF32_F32, "cvt.rna.?satfinite.tf32.f32", u32, u32, tf32_from_single (a)) \
  UNARY (CVT_RZI_S32_F32, "cvt.rzi.?ftz.s32.f32", u32, f32, (u32) s32_from_single (__builtin_truncf (flush_f32 (a, flags)))) \
  UNARY (CVT_RNI_S32_F32, "cvt.rni.?ftz.s32.f32", u32, f32, (u32) s32_from_single (__builtin_rintf (flush_f32 (a, flags)))) \
  UNARY (CVT_RMI_S32_F32, "cvt.rmi.?ftz.s32.f32", u32, f32, (u32) s32_from_single (__builtin_floorf (flush_f32 (a, flags)))) \
  UNARY (CVT_RPI_S32_F32, "cvt.rpi.?ftz.s32.f32", u32, f32, (u32) s32_from_single (__builtin_ceilf (flush_f32 (a, flags)))) \
  UNARY (CVT_RZI_U32_F32, "cvt.rzi.?ftz.u32.f32", u32, f32, u32_from_single (__builtin_truncf (flush_f32 (a, flags))))

/* Two binary32 into one register of two narrow ones: a is the upper. */
#define VGPU_PACK_LANES(BINARY) \
  BINARY (CVT_F16X2_F32, "cvt.rn.?relu.f16x2.f32", u32, f32, f32, \
          (u32) half_from_single (relu (a, flags)) << 16 | half_from_single (relu (b, flags))) \
  BINARY (CVT_BF16X2_F32, "cvt.rn.?relu.bf16x2.f32", u32, f32, f32, \
          (u32) bfloat_from_single (relu (a, flags)) << 16 | bfloat_from_single (relu (b, flags)))

#define VGPU_SPECIAL_OPERATIONS(SPECIAL) \
  SPECIAL (BLOCK) SPECIAL (BLOCK_MEET) SPECIAL (GUARD) SPECIAL (BRANCH) SPECIAL (BRANCH_BACK) \
  SPECIAL (JUMP) SPECIAL (JUMP_BACK) SPECIAL (RETURN) SPECIAL (TRAP) SPECIAL (BARRIER) \
  SPECIAL (BARRIER_ARRIVE) SPECIAL (BARRIER_REDUCE) SPECIAL (WARP_BARRIER) SPECIAL (FENCE) \
  SPECIAL (SELECT_16) SPECIAL (SELECT_32) SPECIAL (SELECT_64) SPECIAL (SLCT_S32) SPECIAL (SLCT_F32) \
  SPECIAL (BFI_32) SPECIAL (BFI_64) SPECIAL (PRED_MOV) SPECIAL (PRED_NOT) SPECIAL (PRED_AND) \
  SPECIAL (PRED_OR) SPECIAL (PRED_XOR) SPECIAL (SET_MASK) SPECIAL (TESTP_F32) SPECIAL (TESTP_F64) \
  SPECIAL (DIV_APPROX) SPECIAL (CVT_ANY) \
  SPECIAL (LOAD_GLOBAL) SPECIAL (LOAD_SHARED) SPECIAL (LOAD_LOCAL) SPECIAL (LOAD_GENERIC) \
  SPECIAL (LOAD_PARAM) SPECIAL (STORE_GLOBAL) SPECIAL (STORE_SHARED) SPECIAL (STORE_LOCAL) \
  SPECIAL (STORE_GENERIC) SPECIAL (ATOM_GLOBAL) SPECIAL (ATOM_SHARED) SPECIAL (ATOM_GENERIC) \
  SPECIAL (ISSPACEP) SPECIAL (SHUFFLE) SPECIAL (VOTE) SPECIAL (MATCH) SPECIAL (REDUX) \
  SPECIAL (ACTIVE_MASK) SPECIAL (ELECT) SPECIAL (CLOCK) SPECIAL (PRINT) SPECIAL (ASSERT_FAIL) \
  SPECIAL (COPY_ASYNC) SPECIAL (COPY_WAIT) SPECIAL (COPY_COMMIT) SPECIAL (LOAD_MATRIX) \
  SPECIAL (STORE_MATRIX) SPECIAL (MMA) SPECIAL (WMMA_LOAD) SPECIAL (WMMA_STORE) SPECIAL (NOTHING) \
  SPECIAL (CALL_ENTER) SPECIAL (CALL) SPECIAL (CALL_DONE) SPECIAL (CALL_RETURN) SPECIAL (CALL_SELECT) \
  SPECIAL (HEAP_TAKE) SPECIAL (HEAP_FREE) \
  SPECIAL (MBARRIER_CHANGE) SPECIAL (MBARRIER_ARRIVE) SPECIAL (MBARRIER_WAIT) \
  SPECIAL (MBARRIER_PENDING) SPECIAL (CLUSTER_ARRIVE) SPECIAL (CLUSTER_WAIT) SPECIAL (MAP_ADDRESS) SPECIAL (FIND_RANK) \
  SPECIAL (COPY_ARRIVE) SPECIAL (BULK_COPY) SPECIAL (BULK_TENSOR) SPECIAL (BULK_COMMIT) \
  SPECIAL (BULK_WAIT) \
  SPECIAL (TEXTURE_FETCH) SPECIAL (TEXTURE_QUERY) SPECIAL (SURFACE_ACCESS) \
  SPECIAL (PRODUCT) SPECIAL (WIDE_LOAD) SPECIAL (WIDE_STORE) \
  SPECIAL (MOVE_MATRIX) SPECIAL (STORE_ASYNC) \
  SPECIAL (WGMMA) SPECIAL (WGMMA_FENCE) SPECIAL (WGMMA_COMMIT) SPECIAL (WGMMA_WAIT) SPECIAL (WATCH) SPECIAL (VIDEO)
/* clang-format on */
