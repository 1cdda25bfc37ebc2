// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// o = tl.arange(0, 16)
// tl.store(out_ptr + tl.unsqueeze(o, 1), 0.0)
module {
  tt.func public @unsqueeze_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %expand_dims = tt.expand_dims %o {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %splat = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %expand_dims : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %constant = arith.constant 0.0 : f32
    %splat_1 = tt.splat %constant : f32 -> tensor<16x1xf32>
    tt.store %addptr, %splat_1 : tensor<16x1x!tt.ptr<f32>>
    tt.return
  }
}
