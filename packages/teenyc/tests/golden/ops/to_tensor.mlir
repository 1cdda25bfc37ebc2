// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// tl.store(out_ptr, tl.to_tensor(2.5) + tl.to_tensor(1))
module {
  tt.func public @to_tensor_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %constant = arith.constant 2.5 : f32
    %constant_1 = arith.constant 1 : i32
    %sitofp = arith.sitofp %constant_1 : i32 to f32
    %addf = arith.addf %constant, %sitofp : f32
    tt.store %out_ptr, %addf : !tt.ptr<f32>
    tt.return
  }
}
