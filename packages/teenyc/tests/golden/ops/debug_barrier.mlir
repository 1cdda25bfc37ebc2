// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// tl.store(out_ptr, 1.0)
// tl.debug_barrier()
// tl.store(out_ptr, 2.0)
module {
  tt.func public @debug_barrier_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %constant = arith.constant 1.0 : f32
    tt.store %out_ptr, %constant : !tt.ptr<f32>
    gpu.barrier
    %constant_1 = arith.constant 2.0 : f32
    tt.store %out_ptr, %constant_1 : !tt.ptr<f32>
    tt.return
  }
}
