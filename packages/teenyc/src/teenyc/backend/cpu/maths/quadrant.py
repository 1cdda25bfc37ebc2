"""Reduction of any finite f64 by pi/2, in integers, after Payne and Hanek (1983)."""

from __future__ import annotations

QUADRANT = "@teeny.quadrant.f64"

# 2/pi = 0.W1 W2 W3..., W0 = 0 stands before the point.
_WORDS = (
    0x0000000000000000,
    0xA2F9836E4E441529,
    0xFC2757D1F534DDC0,
    0xDB6295993C439041,
    0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0,
    0x06492EEA09D1921C,
    0xFE1DEB1CB129A73E,
    0xE88235F52EBB4484,
    0xE99C7026B45F7E41,
    0x3991D639835339F4,
    0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F,
    0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA,
    0x6BFB5FB11F8D5D08,
    0x56033046FC7B6BAB,
    0xF0CFBC209AF4361D,
    0xA9E391615EE61B08,
)
_TABLE = ", ".join(f"i64 {word - (1 << 64) if word >> 63 else word}" for word in _WORDS)

# x = m 2**e with a 53-bit m. Bits of 2/pi above weight 2**(1 - e) only add multiples of 4 to
# x 2/pi; the 192 bits from there on times m, modulo 2**192, hold the quadrant in their two highest
# bits and below them the fraction, off by less than 2**-136, while no f64 comes closer to a
# multiple of pi/2 than 2**-62. The fraction becomes signed (nearest multiple), its leading 64 bits
# are multiplied by pi/2 in integers, and the product is rounded once to f64.
TEXT = f"""\
@teeny.two_over_pi = internal unnamed_addr constant [{len(_WORDS)} x i64] [{_TABLE}], align 8
define internal {{ double, i64 }} {QUADRANT}(double %x) noinline nounwind {{
entry:
  %bits = bitcast double %x to i64
  %biased = lshr i64 %bits, 52
  %finite = icmp ult i64 %biased, 2047
  br i1 %finite, label %reduce, label %exit
reduce:
  %low_bits = and i64 %bits, 4503599627370495
  %m = or i64 %low_bits, 4503599627370496
  %first = sub i64 %biased, 1013
  %index = lshr i64 %first, 6
  %shift = and i64 %first, 63
  %p0 = getelementptr i64, ptr @teeny.two_over_pi, i64 %index
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %t0 = load i64, ptr %p0, align 8
  %t1 = load i64, ptr %p1, align 8
  %t2 = load i64, ptr %p2, align 8
  %t3 = load i64, ptr %p3, align 8
  %w0 = call i64 @llvm.fshl.i64(i64 %t0, i64 %t1, i64 %shift)
  %w1 = call i64 @llvm.fshl.i64(i64 %t1, i64 %t2, i64 %shift)
  %w2 = call i64 @llvm.fshl.i64(i64 %t2, i64 %t3, i64 %shift)
  %m_wide = zext i64 %m to i128
  %w1_wide = zext i64 %w1 to i128
  %w2_wide = zext i64 %w2 to i128
  %low = mul i128 %m_wide, %w2_wide
  %carry = lshr i128 %low, 64
  %middle_product = mul i128 %m_wide, %w1_wide
  %middle = add i128 %middle_product, %carry
  %high_product = mul i64 %m, %w0
  %high_wide = zext i64 %high_product to i128
  %high_shifted = shl i128 %high_wide, 64
  %product = add i128 %high_shifted, %middle
  %top = lshr i128 %product, 64
  %top_word = trunc i128 %top to i64
  %half = add i64 %top_word, 2305843009213693952
  %n = lshr i64 %half, 62
  %fraction = shl i128 %product, 2
  %size = call i128 @llvm.abs.i128(i128 %fraction, i1 false)
  %zeros = call i128 @llvm.ctlz.i128(i128 %size, i1 false)
  %leading = shl i128 %size, %zeros
  %leading_top = lshr i128 %leading, 64
  %scaled = mul i128 %leading_top, {0xC90FDAA22168C235}
  %scaled_top = lshr i128 %scaled, 64
  %digits = trunc i128 %scaled_top to i64
  %rounded = uitofp i64 %digits to double
  %zeros_word = trunc i128 %zeros to i64
  %exponent = sub i64 960, %zeros_word
  %power_bits = shl i64 %exponent, 52
  %power = bitcast i64 %power_bits to double
  %size_float = fmul double %rounded, %power
  %negative = icmp slt i128 %fraction, 0
  %negated = fneg double %size_float
  %r = select i1 %negative, double %negated, double %size_float
  br label %exit
exit:
  %r_out = phi double [0x7FF8000000000000, %entry], [%r, %reduce]
  %n_out = phi i64 [0, %entry], [%n, %reduce]
  %pair = insertvalue {{ double, i64 }} poison, double %r_out, 0
  %both = insertvalue {{ double, i64 }} %pair, i64 %n_out, 1
  ret {{ double, i64 }} %both
}}
"""
DECLARES = frozenset(
    (
        "declare i64 @llvm.fshl.i64(i64, i64, i64)",
        "declare i128 @llvm.abs.i128(i128, i1)",
        "declare i128 @llvm.ctlz.i128(i128, i1)",
    )
)
