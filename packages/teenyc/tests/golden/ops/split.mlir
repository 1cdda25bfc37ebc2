// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// rows = tl.arange(0, 16)
// columns = tl.arange(0, 32)
// x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
// low, high = tl.split(x.reshape(16, 16, 2))
// first, last = tl.split(tl.sum(low + high, 1).reshape(8, 2).sum(0))
// tl.store(out_ptr, first + last)
module {
  tt.func public @split_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %expand_dims = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant = arith.constant 32 : i32
    %splat = tt.splat %constant : i32 -> tensor<16x1xi32>
    %muli = arith.muli %expand_dims, %splat : tensor<16x1xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %addptr = tt.addptr %splat_1, %muli : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast = tt.broadcast %addptr : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x32xi32> -> tensor<16x32xi32>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %x = tt.load %addptr_1 : tensor<16x32x!tt.ptr<f32>>
    %reshape = tt.reshape %x : tensor<16x32xf32> -> tensor<16x16x2xf32>
    %low:2 = tt.split %reshape : tensor<16x16x2xf32> -> tensor<16x16xf32>
    %addf = arith.addf %low#0, %low#1 : tensor<16x16xf32>
    %reduce = "tt.reduce"(%addf) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %addf_1 = arith.addf %a, %b : f32
      tt.reduce.return %addf_1 : f32
    }) : (tensor<16x16xf32>) -> tensor<16xf32>
    %reshape_1 = tt.reshape %reduce : tensor<16xf32> -> tensor<8x2xf32>
    %reduce_1 = "tt.reduce"(%reshape_1) <{axis = 0 : i32}> ({
    ^bb0(%a_1: f32, %b_1: f32):
      %addf_2 = arith.addf %a_1, %b_1 : f32
      tt.reduce.return %addf_2 : f32
    }) : (tensor<8x2xf32>) -> tensor<2xf32>
    %expand_dims_2 = tt.expand_dims %reduce_1 {axis = 0 : i32} : tensor<2xf32> -> tensor<1x2xf32>
    %split:2 = tt.split %expand_dims_2 : tensor<1x2xf32> -> tensor<1xf32>
    %first = tt.unsplat %split#0 : tensor<1xf32>
    %last = tt.unsplat %split#1 : tensor<1xf32>
    %addf_3 = arith.addf %first, %last : f32
    tt.store %out_ptr, %addf_3 : !tt.ptr<f32>
    tt.return
  }
}
