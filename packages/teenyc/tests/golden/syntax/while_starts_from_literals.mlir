// import teeny_triton as tl
// from teeny_triton import Const, Ptr, f16, f32, i32, i64
// def k(x_ptr: Ptr[i32], n: i32, N: Const[int] = 16):
//     r = N + 1
//     count = 0
//     while r > 1:
//         r = (r + 1) // 2
//         count += 1
//     tl.store(x_ptr, count)
module {
  tt.func public @k_entry_point(%x_ptr: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %constant = arith.constant 17 : i32
    %constant_1 = arith.constant 0 : i32
    %r_1:2 = scf.while (%r = %constant, %count = %constant_1) : (i32, i32) -> (i32, i32) {
      %constant_2 = arith.constant 1 : i32
      %cmpi = arith.cmpi sgt, %r, %constant_2 : i32
      scf.condition(%cmpi) %r, %count : i32, i32
    } do {
    ^bb0(%r_2: i32, %count_2: i32):
      %constant_3 = arith.constant 1 : i32
      %addi = arith.addi %r_2, %constant_3 : i32
      %constant_4 = arith.constant 2 : i32
      %r_3 = arith.divsi %addi, %constant_4 : i32
      %constant_5 = arith.constant 1 : i32
      %count_3 = arith.addi %count_2, %constant_5 : i32
      scf.yield %r_3, %count_3 : i32, i32
    }
    tt.store %x_ptr, %r_1#1 : !tt.ptr<i32>
    tt.return
  }
}
