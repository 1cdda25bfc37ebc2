// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// rows = tl.arange(0, 16)
// columns = tl.arange(0, 32)
// x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
// tl.store(out_ptr + tl.arange(0, 512), tl.view(x, (512,)))
module {
  tt.func public @view_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
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
    %make_range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %splat_2 = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %addptr_2 = tt.addptr %splat_2, %make_range : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %reshape = tt.reshape %x allow_reorder : tensor<16x32xf32> -> tensor<512xf32>
    tt.store %addptr_2, %reshape : tensor<512x!tt.ptr<f32>>
    tt.return
  }
}
