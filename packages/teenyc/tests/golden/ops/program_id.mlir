// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// tl.store(out_ptr + tl.program_id(0), tl.program_id(2))
module {
  tt.func public @program_id_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %get_program_id = tt.get_program_id x : i32
    %addptr = tt.addptr %out_ptr, %get_program_id : !tt.ptr<f32>, i32
    %get_program_id_1 = tt.get_program_id z : i32
    %sitofp = arith.sitofp %get_program_id_1 : i32 to f32
    tt.store %addptr, %sitofp : !tt.ptr<f32>
    tt.return
  }
}
