// (x_ptr: Ptr[u8], s_ptr: Ptr[u8], y_ptr: Ptr[bf16], out_ptr: Ptr[f32])
// rows = tl.arange(0, 16)
// columns = tl.arange(0, 32)
// x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
// s = tl.load(s_ptr + rows[:, None] * 2 + tl.arange(0, 2)[None, :])
// y = tl.load(y_ptr + tl.arange(0, 64)[:, None] * 16 + rows[None, :])
// acc = tl.dot_scaled(x, s, "e2m1", y, None, "bf16")
// acc = tl.dot_scaled(x, s, "e2m1", x.T, s, "e2m1", acc, fast_math=True)
// tl.store(out_ptr + rows[:, None] * 16 + rows[None, :], acc)
module {
  tt.func public @dot_scaled_entry_point(%x_ptr: !tt.ptr<i8>, %s_ptr: !tt.ptr<i8>, %y_ptr: !tt.ptr<bf16>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %expand_dims = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant = arith.constant 32 : i32
    %splat = tt.splat %constant : i32 -> tensor<16x1xi32>
    %muli = arith.muli %expand_dims, %splat : tensor<16x1xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<i8> -> tensor<16x1x!tt.ptr<i8>>
    %addptr = tt.addptr %splat_1, %muli : tensor<16x1x!tt.ptr<i8>>, tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast = tt.broadcast %addptr : tensor<16x1x!tt.ptr<i8>> -> tensor<16x32x!tt.ptr<i8>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x32xi32> -> tensor<16x32xi32>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<16x32x!tt.ptr<i8>>, tensor<16x32xi32>
    %x = tt.load %addptr_1 : tensor<16x32x!tt.ptr<i8>>
    %expand_dims_2 = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant_1 = arith.constant 2 : i32
    %splat_2 = tt.splat %constant_1 : i32 -> tensor<16x1xi32>
    %muli_1 = arith.muli %expand_dims_2, %splat_2 : tensor<16x1xi32>
    %splat_3 = tt.splat %s_ptr : !tt.ptr<i8> -> tensor<16x1x!tt.ptr<i8>>
    %addptr_2 = tt.addptr %splat_3, %muli_1 : tensor<16x1x!tt.ptr<i8>>, tensor<16x1xi32>
    %make_range = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %expand_dims_3 = tt.expand_dims %make_range {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %broadcast_2 = tt.broadcast %addptr_2 : tensor<16x1x!tt.ptr<i8>> -> tensor<16x2x!tt.ptr<i8>>
    %broadcast_3 = tt.broadcast %expand_dims_3 : tensor<1x2xi32> -> tensor<16x2xi32>
    %addptr_3 = tt.addptr %broadcast_2, %broadcast_3 : tensor<16x2x!tt.ptr<i8>>, tensor<16x2xi32>
    %s = tt.load %addptr_3 : tensor<16x2x!tt.ptr<i8>>
    %make_range_1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %expand_dims_4 = tt.expand_dims %make_range_1 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %constant_2 = arith.constant 16 : i32
    %splat_4 = tt.splat %constant_2 : i32 -> tensor<64x1xi32>
    %muli_2 = arith.muli %expand_dims_4, %splat_4 : tensor<64x1xi32>
    %splat_5 = tt.splat %y_ptr : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
    %addptr_4 = tt.addptr %splat_5, %muli_2 : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %expand_dims_5 = tt.expand_dims %rows {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %broadcast_4 = tt.broadcast %addptr_4 : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x16x!tt.ptr<bf16>>
    %broadcast_5 = tt.broadcast %expand_dims_5 : tensor<1x16xi32> -> tensor<64x16xi32>
    %addptr_5 = tt.addptr %broadcast_4, %broadcast_5 : tensor<64x16x!tt.ptr<bf16>>, tensor<64x16xi32>
    %y = tt.load %addptr_5 : tensor<64x16x!tt.ptr<bf16>>
    %constant_3 = arith.constant 0.0 : f32
    %splat_6 = tt.splat %constant_3 : f32 -> tensor<16x16xf32>
    %acc = tt.dot_scaled %x scale %s, %y, %splat_6 lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x16xbf16> -> tensor<16x16xf32>
    %trans = tt.trans %x {order = array<i32: 1, 0>} : tensor<16x32xi8> -> tensor<32x16xi8>
    %acc_1 = tt.dot_scaled %x scale %s, %trans scale %s, %acc lhs = e2m1 rhs = e2m1 {fastMath = true} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<32x16xi8>, tensor<16x2xi8> -> tensor<16x16xf32>
    %expand_dims_6 = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant_4 = arith.constant 16 : i32
    %splat_7 = tt.splat %constant_4 : i32 -> tensor<16x1xi32>
    %muli_3 = arith.muli %expand_dims_6, %splat_7 : tensor<16x1xi32>
    %splat_8 = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %addptr_6 = tt.addptr %splat_8, %muli_3 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %expand_dims_7 = tt.expand_dims %rows {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %broadcast_6 = tt.broadcast %addptr_6 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %broadcast_7 = tt.broadcast %expand_dims_7 : tensor<1x16xi32> -> tensor<16x16xi32>
    %addptr_7 = tt.addptr %broadcast_6, %broadcast_7 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    tt.store %addptr_7, %acc_1 : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}
