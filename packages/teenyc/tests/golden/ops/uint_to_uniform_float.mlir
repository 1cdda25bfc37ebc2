// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// tl.store(out_ptr, tl.uint_to_uniform_float(tl.program_id(0)))
module {
  tt.func public @uint_to_uniform_float_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %get_program_id = tt.get_program_id x : i32
    %constant = arith.constant 0 : i32
    %cmpi = arith.cmpi slt, %get_program_id, %constant : i32
    %constant_1 = arith.constant -1 : i32
    %xori = arith.xori %get_program_id, %constant_1 : i32
    %select = arith.select %cmpi, %xori, %get_program_id : i32
    %sitofp = arith.sitofp %select : i32 to f32
    %constant_2 = arith.constant 4.6566125955216364e-10 : f32
    %mulf = arith.mulf %sitofp, %constant_2 : f32
    tt.store %out_ptr, %mulf : !tt.ptr<f32>
    tt.return
  }
}
