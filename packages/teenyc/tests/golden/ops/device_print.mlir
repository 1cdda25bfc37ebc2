// (x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32])
// o = tl.arange(0, 16)
// tl.device_print("at", o, tl.program_id(0).to(u32), hex=True)
// tl.device_print("here")
// tl.store(out_ptr, 1)
module {
  tt.func public @device_print_entry_point(%x_ptr: !tt.ptr<i32>, %y_ptr: !tt.ptr<i32>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %get_program_id = tt.get_program_id x : i32
    tt.print " at: " {hex = true, isSigned = array<i32: 1, 0>} : %o, %get_program_id : tensor<16xi32>, i32
    tt.print " here" {hex = false, isSigned = array<i32>}
    %constant = arith.constant 1 : i32
    tt.store %out_ptr, %constant : !tt.ptr<i32>
    tt.return
  }
}
