// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def write(x_ptr, i):
//     tl.store(x_ptr + i, 1.0)
//     return i
// def k(x_ptr: Ptr[f32], n: i32):
//     for i in range(n):
//         if i > 2:
//             write(x_ptr, i)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 0 : i32
    %constant_1 = arith.constant 1 : i32
    scf.for %i = %constant to %n step %constant_1 : i32 {
      %constant_2 = arith.constant 2 : i32
      %cmpi = arith.cmpi sgt, %i, %constant_2 : i32
      scf.if %cmpi {
        %addptr = tt.addptr %x_ptr, %i : !tt.ptr<f32>, i32
        %constant_3 = arith.constant 1.0 : f32
        tt.store %addptr, %constant_3 : !tt.ptr<f32>
        scf.yield
      }
      scf.yield
    }
    tt.return
  }
}
