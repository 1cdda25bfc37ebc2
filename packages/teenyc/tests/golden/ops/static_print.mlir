// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// tl.static_print("x", 1, sep="=")
// tl.store(out_ptr, 1.0)
module {
  tt.func public @static_print_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %constant = arith.constant 1.0 : f32
    tt.store %out_ptr, %constant : !tt.ptr<f32>
    tt.return
  }
}
