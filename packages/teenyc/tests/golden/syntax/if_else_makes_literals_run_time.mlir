// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[i32], n: i32):
//     if n > 3:
//         value = 1
//     else:
//         value = 2
//     tl.store(x_ptr, value)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 3 : i32
    %cmpi = arith.cmpi sgt, %n, %constant : i32
    %value = scf.if %cmpi -> (i32) {
      %constant_1 = arith.constant 1 : i32
      scf.yield %constant_1 : i32
    } else {
      %constant_2 = arith.constant 2 : i32
      scf.yield %constant_2 : i32
    }
    tt.store %x_ptr, %value : !tt.ptr<i32>
    tt.return
  }
}
