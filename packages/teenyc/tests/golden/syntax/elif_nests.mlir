// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[f32], n: i32):
//     x = 0.0
//     if n > 3:
//         x = 1.0
//     elif n > 2:
//         x = 2.0
//     else:
//         x = 3.0
//     tl.store(x_ptr, x)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 3 : i32
    %cmpi = arith.cmpi sgt, %n, %constant : i32
    %x = scf.if %cmpi -> (f32) {
      %constant_1 = arith.constant 1.0 : f32
      scf.yield %constant_1 : f32
    } else {
      %constant_2 = arith.constant 2 : i32
      %cmpi_1 = arith.cmpi sgt, %n, %constant_2 : i32
      %x_1 = scf.if %cmpi_1 -> (f32) {
        %constant_3 = arith.constant 2.0 : f32
        scf.yield %constant_3 : f32
      } else {
        %constant_4 = arith.constant 3.0 : f32
        scf.yield %constant_4 : f32
      }
      scf.yield %x_1 : f32
    }
    tt.store %x_ptr, %x : !tt.ptr<f32>
    tt.return
  }
}
