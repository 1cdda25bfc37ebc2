// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// o = tl.arange(0, 16)
// tl.store(out_ptr + o, tl.zeros_like(o))
module {
  tt.func public @zeros_like_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %constant = arith.constant 0 : i32
    %splat_1 = tt.splat %constant : i32 -> tensor<16xi32>
    %sitofp = arith.sitofp %splat_1 : tensor<16xi32> to tensor<16xf32>
    tt.store %addptr, %sitofp : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
