// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[i32], n: i32):
//     total = 0
//     for i in range(15, -1, -1):
//         i = 15 - i
//         total += i
//     tl.store(x_ptr, total)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant -1 : i32
    %constant_1 = arith.constant 15 : i32
    %constant_2 = arith.constant 1 : i32
    %constant_3 = arith.constant 0 : i32
    %total_1 = scf.for %i = %constant to %constant_1 step %constant_2 iter_args(%total = %constant_3) -> (i32) : i32 {
      %subi = arith.subi %constant_1, %i : i32
      %i_1 = arith.addi %subi, %constant : i32
      %constant_4 = arith.constant 15 : i32
      %i_2 = arith.subi %constant_4, %i_1 : i32
      %total_2 = arith.addi %total, %i_2 : i32
      scf.yield %total_2 : i32
    }
    tt.store %x_ptr, %total_1 : !tt.ptr<i32>
    tt.return
  }
}
