// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// tl.store(out_ptr + tl.arange(0, 16), tl.arange(16, 32))
module {
  tt.func public @arange_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %make_range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %make_range : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %make_range_1 = tt.make_range {end = 32 : i32, start = 16 : i32} : tensor<16xi32>
    %sitofp = arith.sitofp %make_range_1 : tensor<16xi32> to tensor<16xf32>
    tt.store %addptr, %sitofp : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
