// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// tl.assume(tl.program_id(0) < 8)
// tl.store(out_ptr, 1.0)
module {
  tt.func public @assume_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %get_program_id = tt.get_program_id x : i32
    %constant = arith.constant 8 : i32
    %cmpi = arith.cmpi slt, %get_program_id, %constant : i32
    llvm.intr.assume %cmpi : i1
    %constant_1 = arith.constant 1.0 : f32
    tt.store %out_ptr, %constant_1 : !tt.ptr<f32>
    tt.return
  }
}
