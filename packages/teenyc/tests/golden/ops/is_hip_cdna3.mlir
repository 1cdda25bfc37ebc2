// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// tl.store(out_ptr, 1.0 if tl.target_info.is_hip_cdna3() else 2.0)
module {
  tt.func public @is_hip_cdna3_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %constant = arith.constant 2.0 : f32
    tt.store %out_ptr, %constant : !tt.ptr<f32>
    tt.return
  }
}
