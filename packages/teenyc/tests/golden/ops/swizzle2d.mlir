// (x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32])
// i, j = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), 8, 4)
// tl.store(out_ptr, i + j)
module {
  tt.func public @swizzle2d_entry_point(%x_ptr: !tt.ptr<i32>, %y_ptr: !tt.ptr<i32>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %get_program_id = tt.get_program_id x : i32
    %get_program_id_1 = tt.get_program_id y : i32
    %get_num_programs = tt.get_num_programs x : i32
    %constant = arith.constant 8 : i32
    %muli = arith.muli %get_program_id, %constant : i32
    %addi = arith.addi %muli, %get_program_id_1 : i32
    %constant_1 = arith.constant 32 : i32
    %divsi = arith.divsi %addi, %constant_1 : i32
    %constant_2 = arith.constant 4 : i32
    %muli_1 = arith.muli %divsi, %constant_2 : i32
    %subi = arith.subi %get_num_programs, %muli_1 : i32
    %constant_3 = arith.constant 4 : i32
    %minsi = arith.minsi %subi, %constant_3 : i32
    %constant_4 = arith.constant 32 : i32
    %remsi = arith.remsi %addi, %constant_4 : i32
    %remsi_1 = arith.remsi %remsi, %minsi : i32
    %i = arith.addi %muli_1, %remsi_1 : i32
    %j = arith.divsi %remsi, %minsi : i32
    %addi_1 = arith.addi %i, %j : i32
    tt.store %out_ptr, %addi_1 : !tt.ptr<i32>
    tt.return
  }
}
