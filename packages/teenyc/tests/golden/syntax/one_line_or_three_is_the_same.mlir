// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     x = tl.load(
//         x_ptr
//         + tl.arange(0, 4)[:, None]
//         + tl.arange(0, 8)[None, :],
//     )
//     tl.store(x_ptr + tl.arange(0, 4)[:, None] + tl.arange(0, 8)[None, :], x)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %make_range = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %expand_dims = tt.expand_dims %make_range {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %splat = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<4x1x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %expand_dims : tensor<4x1x!tt.ptr<f32>>, tensor<4x1xi32>
    %make_range_1 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %expand_dims_1 = tt.expand_dims %make_range_1 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %broadcast = tt.broadcast %addptr : tensor<4x1x!tt.ptr<f32>> -> tensor<4x8x!tt.ptr<f32>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x8xi32> -> tensor<4x8xi32>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
    %x = tt.load %addptr_1 : tensor<4x8x!tt.ptr<f32>>
    %make_range_2 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %expand_dims_2 = tt.expand_dims %make_range_2 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<4x1x!tt.ptr<f32>>
    %addptr_2 = tt.addptr %splat_1, %expand_dims_2 : tensor<4x1x!tt.ptr<f32>>, tensor<4x1xi32>
    %make_range_3 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %expand_dims_3 = tt.expand_dims %make_range_3 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %broadcast_2 = tt.broadcast %addptr_2 : tensor<4x1x!tt.ptr<f32>> -> tensor<4x8x!tt.ptr<f32>>
    %broadcast_3 = tt.broadcast %expand_dims_3 : tensor<1x8xi32> -> tensor<4x8xi32>
    %addptr_3 = tt.addptr %broadcast_2, %broadcast_3 : tensor<4x8x!tt.ptr<f32>>, tensor<4x8xi32>
    tt.store %addptr_3, %x : tensor<4x8x!tt.ptr<f32>>
    tt.return
  }
}
