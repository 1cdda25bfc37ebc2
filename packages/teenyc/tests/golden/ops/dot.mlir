// (x_ptr: Ptr[f16], out_ptr: Ptr[f32])
// rows = tl.arange(0, 16)
// columns = tl.arange(0, 32)
// x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
// acc = tl.dot(x, x.T)
// acc = tl.dot(x, x.T, acc, input_precision="ieee")
// tiles = x.to(f32).to(f8e5m2).reshape(2, 2, 4, 32)
// more = tl.dot(tiles, tiles.permute(0, 1, 3, 2), max_num_imprecise_acc=32)
// acc += tl.sum(more)
// tl.store(out_ptr + rows[:, None] * 16 + rows[None, :], acc)
module {
  tt.func public @dot_entry_point(%x_ptr: !tt.ptr<f16>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %expand_dims = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant = arith.constant 32 : i32
    %splat = tt.splat %constant : i32 -> tensor<16x1xi32>
    %muli = arith.muli %expand_dims, %splat : tensor<16x1xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %addptr = tt.addptr %splat_1, %muli : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast = tt.broadcast %addptr : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x32xi32> -> tensor<16x32xi32>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    %x = tt.load %addptr_1 : tensor<16x32x!tt.ptr<f16>>
    %trans = tt.trans %x {order = array<i32: 1, 0>} : tensor<16x32xf16> -> tensor<32x16xf16>
    %constant_1 = arith.constant 0.0 : f32
    %splat_2 = tt.splat %constant_1 : f32 -> tensor<16x16xf32>
    %acc = tt.dot %x, %trans, %splat_2, inputPrecision = tf32 : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
    %trans_1 = tt.trans %x {order = array<i32: 1, 0>} : tensor<16x32xf16> -> tensor<32x16xf16>
    %acc_1 = tt.dot %x, %trans_1, %acc : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
    %extf = arith.extf %x : tensor<16x32xf16> to tensor<16x32xf32>
    %fp_to_fp = tt.fp_to_fp %extf, rounding = rtne : tensor<16x32xf32> -> tensor<16x32xf8E5M2>
    %tiles = tt.reshape %fp_to_fp : tensor<16x32xf8E5M2> -> tensor<2x2x4x32xf8E5M2>
    %trans_2 = tt.trans %tiles {order = array<i32: 0, 1, 3, 2>} : tensor<2x2x4x32xf8E5M2> -> tensor<2x2x32x4xf8E5M2>
    %constant_2 = arith.constant 0.0 : f32
    %splat_3 = tt.splat %constant_2 : f32 -> tensor<2x2x4x4xf32>
    %reshape = tt.reshape %tiles : tensor<2x2x4x32xf8E5M2> -> tensor<4x4x32xf8E5M2>
    %reshape_1 = tt.reshape %trans_2 : tensor<2x2x32x4xf8E5M2> -> tensor<4x32x4xf8E5M2>
    %reshape_2 = tt.reshape %splat_3 : tensor<2x2x4x4xf32> -> tensor<4x4x4xf32>
    %dot = tt.dot %reshape, %reshape_1, %reshape_2, inputPrecision = tf32 {maxNumImpreciseAcc = 32 : i32} : tensor<4x4x32xf8E5M2> * tensor<4x32x4xf8E5M2> -> tensor<4x4x4xf32>
    %more = tt.reshape %dot : tensor<4x4x4xf32> -> tensor<2x2x4x4xf32>
    %reshape_3 = tt.reshape %more allow_reorder : tensor<2x2x4x4xf32> -> tensor<64xf32>
    %reduce = "tt.reduce"(%reshape_3) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %addf = arith.addf %a, %b : f32
      tt.reduce.return %addf : f32
    }) : (tensor<64xf32>) -> f32
    %splat_4 = tt.splat %reduce : f32 -> tensor<16x16xf32>
    %acc_2 = arith.addf %acc_1, %splat_4 : tensor<16x16xf32>
    %expand_dims_2 = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant_3 = arith.constant 16 : i32
    %splat_5 = tt.splat %constant_3 : i32 -> tensor<16x1xi32>
    %muli_1 = arith.muli %expand_dims_2, %splat_5 : tensor<16x1xi32>
    %splat_6 = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %addptr_2 = tt.addptr %splat_6, %muli_1 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %expand_dims_3 = tt.expand_dims %rows {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %broadcast_2 = tt.broadcast %addptr_2 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %broadcast_3 = tt.broadcast %expand_dims_3 : tensor<1x16xi32> -> tensor<16x16xi32>
    %addptr_3 = tt.addptr %broadcast_2, %broadcast_3 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    tt.store %addptr_3, %acc_2 : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}
