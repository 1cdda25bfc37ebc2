// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// tl.store(out_ptr, tl.num_programs(tl.Axis.Y))
module {
  tt.func public @num_programs_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %get_num_programs = tt.get_num_programs y : i32
    %sitofp = arith.sitofp %get_num_programs : i32 to f32
    tt.store %out_ptr, %sitofp : !tt.ptr<f32>
    tt.return
  }
}
