// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i64):
//     for i in range(n):
//         tl.store(x_ptr + i, 0.0)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i64) attributes {noinline = false} {
    %constant = arith.constant 0 : i32
    %constant_1 = arith.constant 1 : i32
    %extsi = arith.extsi %constant : i32 to i64
    %extsi_1 = arith.extsi %constant_1 : i32 to i64
    scf.for %i = %extsi to %n step %extsi_1 : i64 {
      %addptr = tt.addptr %x_ptr, %i : !tt.ptr<f32>, i64
      %constant_2 = arith.constant 0.0 : f32
      tt.store %addptr, %constant_2 : !tt.ptr<f32>
      scf.yield
    }
    tt.return
  }
}
