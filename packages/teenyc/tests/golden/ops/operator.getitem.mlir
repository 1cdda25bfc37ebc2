// (x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32])
// o = tl.arange(0, 16)
// x = tl.load(x_ptr + o)
// y = tl.load(y_ptr + o)
// tl.store(out_ptr + o[:, None] * 16 + o[None, :], x[:, None] + y[None, :])
module {
  tt.func public @operator_getitem_entry_point(%x_ptr: !tt.ptr<f32>, %y_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %x = tt.load %addptr : tensor<16x!tt.ptr<f32>>
    %splat_1 = tt.splat %y_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %y = tt.load %addptr_1 : tensor<16x!tt.ptr<f32>>
    %expand_dims = tt.expand_dims %o {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant = arith.constant 16 : i32
    %splat_2 = tt.splat %constant : i32 -> tensor<16x1xi32>
    %muli = arith.muli %expand_dims, %splat_2 : tensor<16x1xi32>
    %splat_3 = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %addptr_2 = tt.addptr %splat_3, %muli : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %o {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %broadcast = tt.broadcast %addptr_2 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %addptr_3 = tt.addptr %broadcast, %broadcast_1 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %expand_dims_2 = tt.expand_dims %x {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %expand_dims_3 = tt.expand_dims %y {axis = 0 : i32} : tensor<16xf32> -> tensor<1x16xf32>
    %broadcast_2 = tt.broadcast %expand_dims_2 : tensor<16x1xf32> -> tensor<16x16xf32>
    %broadcast_3 = tt.broadcast %expand_dims_3 : tensor<1x16xf32> -> tensor<16x16xf32>
    %addf = arith.addf %broadcast_2, %broadcast_3 : tensor<16x16xf32>
    tt.store %addptr_3, %addf : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}
