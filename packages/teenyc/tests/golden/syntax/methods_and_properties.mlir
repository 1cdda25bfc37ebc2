// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     x = tl.load(x_ptr + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :])
//     y = x.T
//     tl.store(x_ptr + tl.arange(0, 4), y.sum(axis=0) + x.shape[1])
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %make_range = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %expand_dims = tt.expand_dims %make_range {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %constant = arith.constant 8 : i32
    %splat = tt.splat %constant : i32 -> tensor<4x1xi32>
    %muli = arith.muli %expand_dims, %splat : tensor<4x1xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<4x1x!tt.ptr<f32>>
    %addptr = tt.addptr %splat_1, %muli : tensor<4x1x!tt.ptr<f32>>, tensor<4x1xi32>
    %make_range_1 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %expand_dims_1 = tt.expand_dims %make_range_1 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %broadcast = tt.broadcast %addptr : tensor<4x1x!tt.ptr<f32>> -> tensor<4x8x!tt.ptr<f32>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x8xi32> -> tensor<4x8xi32>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
    %x = tt.load %addptr_1 : tensor<4x8x!tt.ptr<f32>>
    %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
    %make_range_2 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %splat_2 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %addptr_2 = tt.addptr %splat_2, %make_range_2 : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    %reduce = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %addf = arith.addf %a, %b : f32
      tt.reduce.return %addf : f32
    }) : (tensor<8x4xf32>) -> tensor<4xf32>
    %constant_1 = arith.constant 8.0 : f32
    %splat_3 = tt.splat %constant_1 : f32 -> tensor<4xf32>
    %addf_1 = arith.addf %reduce, %splat_3 : tensor<4xf32>
    tt.store %addptr_2, %addf_1 : tensor<4x!tt.ptr<f32>>
    tt.return
  }
}
