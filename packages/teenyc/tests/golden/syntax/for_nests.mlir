// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     total = 0.0
//     for i in range(n):
//         row = 0.0
//         for j in range(i):
//             row += tl.load(x_ptr + i * n + j)
//         total += row
//     tl.store(x_ptr, total)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 0 : i32
    %constant_1 = arith.constant 1 : i32
    %constant_2 = arith.constant 0.0 : f32
    %total_1 = scf.for %i = %constant to %n step %constant_1 iter_args(%total = %constant_2) -> (f32) : i32 {
      %constant_3 = arith.constant 0 : i32
      %constant_4 = arith.constant 1 : i32
      %constant_5 = arith.constant 0.0 : f32
      %row_1 = scf.for %j = %constant_3 to %i step %constant_4 iter_args(%row = %constant_5) -> (f32) : i32 {
        %muli = arith.muli %i, %n : i32
        %addptr = tt.addptr %x_ptr, %muli : !tt.ptr<f32>, i32
        %addptr_1 = tt.addptr %addptr, %j : !tt.ptr<f32>, i32
        %load = tt.load %addptr_1 : !tt.ptr<f32>
        %row_2 = arith.addf %row, %load : f32
        scf.yield %row_2 : f32
      }
      %total_2 = arith.addf %total, %row_1 : f32
      scf.yield %total_2 : f32
    }
    tt.store %x_ptr, %total_1 : !tt.ptr<f32>
    tt.return
  }
}
